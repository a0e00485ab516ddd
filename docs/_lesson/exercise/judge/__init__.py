"""Judge a program that should compute {subject}, and say what it seems to do instead.

    python3 {name} my_solution.py         run the checks on {call}
    python3 {name} --cases my_cases.txt   which wrong programs do your own cases catch?
    python3 {name} --starter              print the code to begin with

Needs Python 3.11 or newer and nothing else. The same file judges in the browser, on the
command line and in the tests. It knows nothing of {subject}: the task, its cases, the
solution and the wrong answers are in the exercise's data file.
"""
