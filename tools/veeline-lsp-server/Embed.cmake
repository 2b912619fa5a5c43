# Writes the text of FILES as string literals that a C++ file includes.
#   cmake -DFILES="a.md;b.md" -DOUTPUT=pages.inc -P Embed.cmake
set(literals "")
foreach(file ${FILES})
  file(READ ${file} text)
  string(APPEND literals "R\"[page](${text})[page]\"\n")
endforeach()
file(WRITE ${OUTPUT} "${literals}")
