"""Rendering: conversion of nodes and refs to the lines of a mode, cut to size. Pure."""
