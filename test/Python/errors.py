"""What tests of the package share."""

import veeline


def print_error(what, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except veeline.VeelineError as error:
        print(f"{what}: {type(error).__name__}: {error}")
    else:
        print(f"{what}: nothing")
