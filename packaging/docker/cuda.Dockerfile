# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Veeline for NVIDIA's GPUs: the image of cpu.Dockerfile, and of NVIDIA's image
# what Veeline loads (cuBLASLt, NCCL, cuDNN) and what it starts (ptxas, fatbinary).
# NVIDIA's own images are no base: none is of Debian, and the packages need its LLVM.

ARG VEELINE=veeline:cpu
ARG CUDA=nvidia/cuda:12.9.1-cudnn-devel-ubuntu24.04

FROM ${CUDA} AS nvidia
WORKDIR /toolkit
RUN mkdir -p bin lib nvvm/libdevice && \
    cp -a /usr/local/cuda/bin/ptxas /usr/local/cuda/bin/fatbinary bin && \
    cp -a /usr/local/cuda/nvvm/libdevice/libdevice.10.bc nvvm/libdevice && \
    cp -a /usr/local/cuda/lib64/libcublas.so.* /usr/local/cuda/lib64/libcublasLt.so.* \
      /usr/local/cuda/lib64/libnvrtc.so.* /usr/local/cuda/lib64/libnvrtc-builtins.so.* \
      /usr/lib/x86_64-linux-gnu/libcudnn*.so.* /usr/lib/x86_64-linux-gnu/libnccl.so.* lib

FROM ${VEELINE}
USER root
COPY --from=nvidia /toolkit /usr/local/cuda
RUN echo /usr/local/cuda/lib > /etc/ld.so.conf.d/cuda.conf && ldconfig
USER veeline
# NVIDIA's container toolkit brings the driver's libraries, as these say.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
