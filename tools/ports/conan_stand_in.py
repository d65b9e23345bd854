# SPDX-License-Identifier: Apache-2.0
"""conan_stand_in.py RECIPE WORK TEST_WORK [OPTION=VALUE]...

Runs a recipe and its test package without Conan, whose classes it replaces by what they do: exporting, and
the commands of CMake, for one build type and with the packages of this system."""

import fnmatch
import importlib.util
import os
import shutil
import subprocess
import sys
import types


class Options(dict):
    def __getattr__(self, name):
        return self[name]

    def rm_safe(self, name):
        self.pop(name, None)


class ConanFile:
    version = None


class CppInfo(types.SimpleNamespace):
    def set_property(self, name, value):
        setattr(self, name, value)


class Toolchain:
    def __init__(self, recipe):
        self.cache_variables = {}
        recipe.stand_in_toolchain = self

    def generate(self):
        pass


class Dependencies:
    def __init__(self, recipe):
        pass

    def generate(self):
        pass


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self, build_script_folder=None):
        values = {"CMAKE_BUILD_TYPE": "Release", "CMAKE_INSTALL_PREFIX": self.recipe.package_folder,
                  "CMAKE_INSTALL_LIBDIR": "lib", "CMAKE_PREFIX_PATH": self.recipe.stand_in_found}
        values.update(self.recipe.stand_in_toolchain.cache_variables)
        source = build_script_folder or self.recipe.source_folder
        words = ["cmake", "-S", source, "-B", self.recipe.build_folder, "-G", "Ninja"]
        for name, value in values.items():
            text = {True: "ON", False: "OFF"}.get(value, value)
            words.append(f"-D{name}={text}")
        subprocess.run(words, check=True)

    def build(self):
        subprocess.run(
            ["cmake", "--build", self.recipe.build_folder, "--parallel", "2"], check=True
        )

    def install(self):
        subprocess.run(["cmake", "--install", self.recipe.build_folder], check=True)


def copy(recipe, pattern, src, dst):
    copied = 0
    for folder, _, files in os.walk(src):
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), src)
            if fnmatch.fnmatchcase(path, pattern):
                os.makedirs(os.path.dirname(os.path.join(dst, path)), exist_ok=True)
                shutil.copy2(os.path.join(src, path), os.path.join(dst, path))
                copied += 1
    assert copied, f"nothing matches {pattern} in {src}"


def load(recipe, path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def modules():
    """What recipes import from."""
    names = {
        "conan": {"ConanFile": ConanFile},
        "conan.tools": {},
        "conan.tools.build": {
            "check_min_cppstd": lambda recipe, standard: None,
            "can_run": lambda recipe: True,
        },
        "conan.tools.cmake": {
            "CMake": CMake,
            "CMakeDeps": Dependencies,
            "CMakeToolchain": Toolchain,
            "cmake_layout": lambda recipe: None,
        },
        "conan.tools.files": {
            "copy": copy,
            "load": load,
            "rmdir": lambda recipe, path: shutil.rmtree(path),
        },
    }
    for name, members in names.items():
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(members)


def recipe_in(folder, work):
    specification = importlib.util.spec_from_file_location("r", os.path.join(folder, "conanfile.py"))
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    kinds = [k for k in vars(module).values() if isinstance(k, type) and issubclass(k, ConanFile)]
    recipe = next(k for k in kinds if k is not ConanFile)()
    recipe.recipe_folder = folder
    recipe.source_folder = os.path.join(work, "source")
    recipe.export_sources_folder = recipe.source_folder
    recipe.build_folder = os.path.join(work, "build")
    recipe.package_folder = os.path.join(work, "package")
    recipe.stand_in_found = ""
    recipe.cpp_info = CppInfo()
    recipe.cpp = types.SimpleNamespace(build=types.SimpleNamespace(bindir=recipe.build_folder))
    recipe.requires = lambda reference, **traits: print(f"requires {reference}")
    return recipe


def main():
    folder, work, test_work, *choices = sys.argv[1:]
    modules()
    recipe = recipe_in(folder, work)
    recipe.options = Options(recipe.default_options)
    for choice in choices:
        name, value = choice.split("=", 1)
        allowed = recipe.options[name] is None or value in map(str, type(recipe).options[name])
        assert name in type(recipe).options and allowed, choice
        recipe.options[name] = {"True": True, "False": False}.get(value, value)
    recipe.set_version()
    recipe.export_sources()
    for step in ("configure", "layout", "validate", "requirements", "generate", "build", "package",
                 "package_info"):
        getattr(recipe, step)()
    builddirs = [os.path.join(recipe.package_folder, d) for d in recipe.cpp_info.builddirs]
    assert all(map(os.path.isdir, builddirs)), builddirs

    test = recipe_in(os.path.join(folder, "test_package"), test_work)
    test.stand_in_found = ";".join(builddirs)
    test.tested_reference_str = f"{recipe.name}/{recipe.version}"
    reference = types.SimpleNamespace(ref=types.SimpleNamespace(version=recipe.version))
    test.dependencies = {recipe.name: reference}
    test.run = lambda command, env: subprocess.run([command], check=True)
    for step in ("requirements", "layout", "generate", "build", "test"):
        getattr(test, step)()


main()
