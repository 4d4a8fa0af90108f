"""A Selenium program that leaves the search for driver and browser to Selenium, and uses the page argv[1].

chromedriver writes its log to the file argv[2].
"""

# mypy: ignore-errors
import json
import sys

from selenium import webdriver
from selenium.webdriver.common.by import By

options = webdriver.ChromeOptions()
options.add_argument("--headless")
options.add_argument("--no-sandbox")
service = webdriver.ChromeService(log_output=sys.argv[2], service_args=["--verbose"])
driver = webdriver.Chrome(options=options, service=service)
try:
    driver.get(sys.argv[1])
    driver.find_element(By.ID, "name").send_keys("Ada")
    driver.find_element(By.ID, "greet").click()
    print(json.dumps([driver.find_element(By.ID, "greeting").text, driver.title]))
finally:
    driver.quit()
