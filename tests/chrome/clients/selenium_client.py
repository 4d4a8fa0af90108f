"""A Selenium program that opens the page argv[2] in the browser argv[1], uses it, and prints its results.

chromedriver connects to the browser's endpoint. Run with the peers' interpreter.
"""

# mypy: ignore-errors
import json
import sys
import urllib.parse

from selenium import webdriver
from selenium.webdriver.common.by import By

options = webdriver.ChromeOptions()
options.debugger_address = urllib.parse.urlsplit(sys.argv[1]).netloc
driver = webdriver.Chrome(options=options)
driver.switch_to.new_window("tab")
driver.get(sys.argv[2])
driver.find_element(By.ID, "name").send_keys("Ada")
driver.find_element(By.ID, "greet").click()
said = {
    "greeting": driver.find_element(By.ID, "greeting").text,
    "title": driver.title,
    "sum": driver.execute_cdp_cmd("Runtime.evaluate", {"expression": "2 + 3"})["result"]["value"],
    "screenshot": len(driver.get_screenshot_as_png()) > 1000,
}
driver.close()
driver.service.stop()
print(json.dumps(said))
