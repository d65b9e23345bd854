# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe for the source tree that it is in; see doc/packaging.md."""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class CorozkConan(ConanFile):
    name = "corozk"
    description = "A ZooKeeper client and its recipes as C++20 awaitables on Boost.Asio"
    license = "Apache-2.0"
    topics = ("zookeeper", "asio", "coroutines", "distributed")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "tls": [True, False],
        "sasl": [True, False],
        # The folder zookeeper-client/zookeeper-client-c of ZooKeeper's source, to be compiled into
        # the library; otherwise the system's single-threaded C client is used.
        "zookeeper_c_source": [None, "ANY"],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "tls": True,
        "sasl": False,
        "zookeeper_c_source": None,
    }

    @property
    def _tree(self):
        return os.path.normpath(os.path.join(self.recipe_folder, "..", "..", ".."))

    def set_version(self):
        header = load(self, os.path.join(self._tree, "include", "corozk", "version.hpp"))
        parts = [
            re.search(rf"^#define COROZK_VERSION_{part} (\d+)$", header, re.M).group(1)
            for part in ("MAJOR", "MINOR", "PATCH")
        ]
        self.version = ".".join(parts)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, pattern, src=self._tree, dst=self.export_sources_folder)

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def layout(self):
        cmake_layout(self)

    def validate(self):
        check_min_cppstd(self, 20)

    def requirements(self):
        self.requires("boost/[>=1.81 <2]", transitive_headers=True)
        self.requires("fmt/[>=9 <13]")
        if self.options.tls:
            self.requires("openssl/[>=3 <4]")
        if self.options.sasl:
            self.requires("cyrus-sasl/[>=2.1.27]")

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name in ("TESTS", "EXAMPLES", "BENCH", "TOOLS", "TEST_KIT"):
            toolchain.cache_variables[f"COROZK_BUILD_{name}"] = False
        toolchain.cache_variables["COROZK_INSTALL"] = True
        toolchain.cache_variables["COROZK_TLS"] = bool(self.options.tls)
        toolchain.cache_variables["COROZK_SASL"] = bool(self.options.sasl)
        if self.options.zookeeper_c_source:
            toolchain.cache_variables["COROZK_ZOOKEEPER_C_SOURCE_DIR"] = str(
                self.options.zookeeper_c_source
            )
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        # The package's own corozkConfig.cmake says what it needs.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "corozk")]
        self.cpp_info.libs = ["corozk"]
