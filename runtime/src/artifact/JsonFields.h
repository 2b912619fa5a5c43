//===- JsonFields.h - structs as JSON ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes and reads structs that have a `visitFields` (Fields.h).
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ARTIFACT_JSONFIELDS_H
#define VEELINE_RUNTIME_ARTIFACT_JSONFIELDS_H

#include "Fields.h"
#include "Names.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace veeline::artifact::json {

// Members keep their order, so that equal structs are equal text.
using Json = nlohmann::ordered_json;

template <typename T>
concept HasEnumNames = requires {
  EnumNames<T>::names;
};

/// A visitor of any type, to test whether a struct has a `visitFields`.
struct AnyVisitor {
  template <typename T, typename... Missing>
  void operator()(const char *, T &, Missing...) const {}
};
template <typename T>
concept HasFields = requires(T &value) {
  visitFields(AnyVisitor(), value);
};

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

inline Json toJsonValue(const std::string &text) { return text; }
inline Json toJsonValue(bool value) { return value; }
inline Json toJsonValue(int32_t value) { return value; }
inline Json toJsonValue(int64_t value) { return value; }
inline Json toJsonValue(double value) { return value; }
inline Json toJsonValue(DataType type) { return std::string(name(type)); }
inline Json toJsonValue(Optimizer optimizer) {
  return std::string(name(optimizer));
}
template <HasEnumNames Enum> Json toJsonValue(Enum value) {
  return std::string(enumName(value));
}
template <typename A, typename B>
Json toJsonValue(const std::pair<A, B> &value);
template <typename T> Json toJsonValue(const std::optional<T> &value);
template <typename T> Json toJsonValue(const std::vector<T> &values);
template <typename T, size_t size>
Json toJsonValue(const std::array<T, size> &values);
template <HasFields Struct> Json toJsonValue(const Struct &value);

template <typename A, typename B>
Json toJsonValue(const std::pair<A, B> &value) {
  return Json::array({toJsonValue(value.first), toJsonValue(value.second)});
}

template <typename T> Json toJsonValue(const std::optional<T> &value) {
  return value ? toJsonValue(*value) : Json(nullptr);
}

template <typename T> Json toJsonValue(const std::vector<T> &values) {
  Json array = Json::array();
  for (const T &value : values)
    array.push_back(toJsonValue(value));
  return array;
}

template <typename T, size_t size>
Json toJsonValue(const std::array<T, size> &values) {
  return toJsonValue(std::vector<T>(values.begin(), values.end()));
}

template <HasFields Struct> Json toJsonValue(const Struct &value) {
  Json object = Json::object();
  visitFields([&](const char *key, const auto &field,
                  auto...) { object[key] = toJsonValue(field); },
              value);
  return object;
}

/// Names come from users and may contain any bytes. Bytes that are not UTF-8
/// are replaced, because they would be an error.
inline std::string dump(const Json &json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Fills structs from JSON, and keeps the first error with its path.
class Reader {
public:
  Status status() const {
    return failed ? Status::error(message) : Status::success();
  }

  void read(const Json &json, std::string &out) {
    if (const auto *text = json.get_ptr<const Json::string_t *>())
      out = *text;
    else
      fail("a string", json);
  }

  void read(const Json &json, bool &out) {
    if (const auto *value = json.get_ptr<const Json::boolean_t *>())
      out = *value;
    else
      fail("true or false", json);
  }

  void read(const Json &json, int64_t &out) {
    if (!json.is_number_integer() || tooLarge(json))
      return fail("an integer", json);
    out = json.get<int64_t>();
  }

  void read(const Json &json, int32_t &out) {
    int64_t wide = 0;
    read(json, wide);
    out = static_cast<int32_t>(wide);
    if (out != wide)
      fail("an integer of 32 bits", json);
  }

  void read(const Json &json, double &out) {
    if (!json.is_number())
      return fail("a number", json);
    out = json.get<double>();
  }

  void read(const Json &json, DataType &out) {
    readNamed(json, out, parseDataType, "an element type");
  }

  void read(const Json &json, Optimizer &out) {
    readNamed(json, out, parseOptimizer, "the name of an optimizer");
  }

  template <HasEnumNames Enum> void read(const Json &json, Enum &out) {
    readNamed(json, out, parseEnum<Enum>, "one of the known names");
  }

  template <typename A, typename B>
  void read(const Json &json, std::pair<A, B> &out) {
    if (!json.is_array() || json.size() != 2)
      return fail("a pair", json);
    read(json[0], out.first);
    read(json[1], out.second);
  }

  template <typename T> void read(const Json &json, std::optional<T> &out) {
    if (json.is_null())
      out.reset();
    else
      read(json, out.emplace());
  }

  template <typename T> void read(const Json &json, std::vector<T> &out) {
    if (!json.is_array())
      return fail("a list", json);
    size_t length = path.size();
    for (size_t i = 0; i < json.size() && !failed; ++i) {
      path += "[" + std::to_string(i) + "]";
      read(json[i], out.emplace_back());
      path.resize(length);
    }
  }

  template <typename T, size_t size>
  void read(const Json &json, std::array<T, size> &out) {
    if (!json.is_array() || json.size() != size)
      return fail("a list of " + std::to_string(size), json);
    std::vector<T> values;
    read(json, values);
    std::copy_n(values.begin(), std::min(values.size(), size), out.begin());
  }

  template <HasFields Struct> void read(const Json &json, Struct &out) {
    if (!json.is_object())
      return fail("an object", json);
    size_t known = 0;
    visitFields(
        [&](const char *key, auto &field, auto... mayBeMissing) {
          if (sizeof...(mayBeMissing) > 0 && !json.contains(key))
            return;
          ++known;
          readMember(json, key, field);
        },
        out);
    if (!failed && json.size() != known)
      fail("no members but the " + std::to_string(known) + " known ones", json);
  }

private:
  template <typename Field>
  void readMember(const Json &json, const char *key, Field &field) {
    if (failed)
      return;
    size_t length = path.size();
    path += path.empty() ? key : std::string(".") + key;
    auto member = json.find(key);
    if (member == json.end())
      fail("a value", nullptr);
    else
      read(*member, field);
    path.resize(length);
  }

  template <typename Enum, typename Parse>
  void readNamed(const Json &json, Enum &out, Parse parse,
                 const char *expected) {
    const auto *text = json.get_ptr<const Json::string_t *>();
    std::optional<Enum> value = text ? parse(*text) : std::nullopt;
    if (!value)
      return fail(expected, json);
    out = *value;
  }

  static bool tooLarge(const Json &json) {
    return json.is_number_unsigned() &&
           json.get<uint64_t>() >
               static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  }

  void fail(const std::string &expected, const Json &found) {
    if (failed)
      return;
    failed = true;
    std::string text = dump(found, -1);
    if (text.size() > 40)
      text = text.substr(0, 40) + "...";
    message = "'" + path + "' should be " + expected + ", found " + text;
  }

  std::string path;
  std::string message;
  bool failed = false;
};

/// Sets `out` from `text`. Fails if `text` is not JSON or a member is wrong.
/// `what` names the text in errors.
template <HasFields Struct>
Status parse(std::string_view text, const char *what, Struct &out) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return Status::error(std::string(what) + " is not JSON");
  Reader reader;
  reader.read(json, out);
  return reader.status();
}

} // namespace veeline::artifact::json

#endif // VEELINE_RUNTIME_ARTIFACT_JSONFIELDS_H
