"""Recording of the browsers that another program starts.

executables      finds the browsers that the program may start
wrappers         writes a wrapper for each browser, which the program finds in its place
names            leads the program to the wrappers, where mounts are not possible
mounts           puts the wrappers over the browsers' paths, for the program only; runs alone
wrapper          runs instead of a browser, and becomes the browser; runs alone
switches         reads and changes the browser's command line
descriptors      carries the messages and descriptors between wrapper and recorder
wrapped_browsers relays the pipes, ports and outputs of the browsers
port_file        replaces the browser's DevToolsActivePort file
output           relays the browser's standard error
recorded_command runs the program

Rule: a browser keeps its process id, parent, process group, working directory and environment. So signals, exit
status and the end of the browser need no help from here.
"""
