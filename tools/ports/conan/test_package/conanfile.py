# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the consumer that the tests of the installed CMake package use."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout


class CorozkTestConan(ConanFile):
    settings = "os", "arch", "compiler", "build_type"

    @property
    def _consumer(self):
        return os.path.join(
            self.recipe_folder, "..", "..", "..", "..", "test", "consumer", "find_package"
        )

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["COROZK_EXPECTED_VERSION"] = str(
            self.dependencies["corozk"].ref.version
        )
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure(build_script_folder=self._consumer)
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(os.path.join(self.cpp.build.bindir, "consumer"), env="conanrun")
