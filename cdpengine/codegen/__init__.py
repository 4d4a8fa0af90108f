"""Code from a recording: the actions of a person, a step trace or a cache entry, as a program.

Rule: a recording is a list of `RecordedStep`. Sources make the list, and each target writes it as text
(`python_code`, `request_list`, `action_script`). No source knows a target.
"""
