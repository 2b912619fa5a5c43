# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Veeline for CPUs, from its Debian packages. docs/packaging.md has the commands.
# `--target runtime` trains what was compiled, without LLVM; the whole compiles, too.

ARG DEBIAN=debian:bookworm-slim

FROM ${DEBIAN} AS build
WORKDIR /src
COPY scripts/install-dependencies scripts/
RUN scripts/install-dependencies --without-tests --packaging
COPY . .
ARG SOURCE_DATE_EPOCH
RUN scripts/package

FROM ${DEBIAN} AS runtime
RUN --mount=type=bind,from=build,source=/src/build/packages,target=/packages \
    apt-get update && \
    apt-get install --yes --no-install-recommends libopenmpi3 openmpi-bin /packages/veeline-runtime_*.deb && \
    rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 1000 veeline && \
    install --directory --owner=veeline /work
USER veeline
WORKDIR /work
CMD ["veeline", "--help"]

FROM runtime
USER root
RUN --mount=type=bind,from=build,source=/src/build/packages,target=/packages \
    apt-get update && \
    apt-get install --yes --no-install-recommends /packages/veeline-tools_*.deb /packages/python3-veeline_*.deb && \
    rm -rf /var/lib/apt/lists/*
USER veeline
