; Stands for the CUDA toolkit's libdevice: each function is one instruction of
; test/gpu's interpreter, and none of a GPU's.
target triple = "nvptx64-nvidia-cuda"

define double @__nv_acos(double %x) {
  %y = call double asm "standin.acos.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_acosh(double %x) {
  %y = call double asm "standin.acosh.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_asin(double %x) {
  %y = call double asm "standin.asin.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_asinh(double %x) {
  %y = call double asm "standin.asinh.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_atan(double %x) {
  %y = call double asm "standin.atan.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_atanh(double %x) {
  %y = call double asm "standin.atanh.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_cbrt(double %x) {
  %y = call double asm "standin.cbrt.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_cos(double %x) {
  %y = call double asm "standin.cos.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_cosh(double %x) {
  %y = call double asm "standin.cosh.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_erf(double %x) {
  %y = call double asm "standin.erf.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_erfc(double %x) {
  %y = call double asm "standin.erfc.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_exp(double %x) {
  %y = call double asm "standin.exp.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_exp2(double %x) {
  %y = call double asm "standin.exp2.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_expm1(double %x) {
  %y = call double asm "standin.expm1.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_log(double %x) {
  %y = call double asm "standin.log.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_log10(double %x) {
  %y = call double asm "standin.log10.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_log1p(double %x) {
  %y = call double asm "standin.log1p.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_log2(double %x) {
  %y = call double asm "standin.log2.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_sin(double %x) {
  %y = call double asm "standin.sin.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_sinh(double %x) {
  %y = call double asm "standin.sinh.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_tan(double %x) {
  %y = call double asm "standin.tan.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_tanh(double %x) {
  %y = call double asm "standin.tanh.f64 $0, $1;", "=d,d"(double %x)
  ret double %y
}
define double @__nv_atan2(double %x, double %y) {
  %z = call double asm "standin.atan2.f64 $0, $1, $2;", "=d,d,d"(double %x, double %y)
  ret double %z
}
define double @__nv_pow(double %x, double %y) {
  %z = call double asm "standin.pow.f64 $0, $1, $2;", "=d,d,d"(double %x, double %y)
  ret double %z
}
define double @__nv_fmod(double %x, double %y) {
  %z = call double asm "standin.fmod.f64 $0, $1, $2;", "=d,d,d"(double %x, double %y)
  ret double %z
}
