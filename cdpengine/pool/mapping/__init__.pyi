from .named import NamedFunction as NamedFunction
from .named import find_function as find_function
from .run import MapCounts as MapCounts
from .run import MapRun as MapRun
from .run_files import MapFiles as MapFiles
