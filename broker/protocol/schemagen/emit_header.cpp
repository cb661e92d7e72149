#include <algorithm>

#include "protocol/schemagen/code_writer.hpp"
#include "protocol/schemagen/cpp_names.hpp"
#include "protocol/schemagen/emit.hpp"

namespace braidmq::schemagen {
namespace {

std::string versions_text(version_range range) {
  return range.first == range.last ? fmt::format("version {}", range.first)
                                   : fmt::format("versions {} to {}", range.first, range.last);
}

void emit_member(code_writer& out, const struct_def& owner, const field_def& field) {
  out.comment(field.doc);
  if (field.versions != owner.versions) out.line("// In {} only.", versions_text(field.versions));
  if (field.has_nullable && field.nullable != field.versions)
    out.line("// Null in {} only.", versions_text(field.nullable));
  out.line("{} {}{};", member_type(field), field.name, member_initializer(field));
}

void emit_members(code_writer& out, const struct_def& structure, const std::string& name) {
  for (const field_def& field : structure.fields) emit_member(out, structure, field);
  if (!structure.fields.empty()) out.blank();
  out.line("friend bool operator==(const {}&, const {}&) = default;", name, name);
}

void emit_constants(code_writer& out, const message_def& message) {
  if (message.api_key >= 0) out.line("static constexpr std::int16_t api_key = {};", message.api_key);
  out.line("static constexpr std::string_view name = \"{}\";", kafka_name(message));
  out.line("static constexpr std::int16_t min_version = {};", message.versions.first);
  out.line("static constexpr std::int16_t max_version = {};", message.versions.last);
  if (message.flexible.empty()) {
    out.raw(
        "static constexpr std::int16_t first_flexible_version = std::numeric_limits<std::int16_t>::max();  // none");
  } else {
    out.line("static constexpr std::int16_t first_flexible_version = {};", message.flexible.first);
  }
}

void emit_message(code_writer& out, const message_def& message) {
  const std::string name = type_name(message);
  out.blank();
  out.comment(message.doc);
  out.open("struct {}", name);
  emit_constants(out, message);
  for (const struct_def& structure : message.structs) {
    out.blank();
    out.comment(structure.doc);
    out.open("struct {}", structure.name);
    emit_members(out, structure, structure.name);
    out.close(";");
  }
  out.blank();
  emit_members(out, message.body, name);
  out.blank();
  out.raw(
      "// `body` is all of the message; bytes left over are an error. The result shares its bytes. `limit`: see "
      "wire_reader.");
  out.line("static result<{}> decode(bytes body, std::int16_t version, decode_limit* limit = nullptr);", name);
  out.raw("// Appends; on failure `to` is as it was.");
  out.raw("status encode(byte_buffer& to, std::int16_t version) const;");
  out.raw("std::string to_json() const;");
  out.close(";");
  out.blank();
  out.raw(
      "// Without a version check and without an end: for messages inside of others. Ask in.ok() and out.ok() "
      "afterwards.");
  out.line("void read(wire_reader& in, {}& value, std::int16_t version);", name);
  out.line("void write(wire_writer& out, const {}& value, std::int16_t version);", name);
}

}  // namespace

std::string emit_header(const schema_file& file) {
  code_writer out;
  out.line("// Generated from {} by schemagen; do not edit.", file.path);
  out.raw("#pragma once");
  out.blank();
  for (const char* header : {"cstdint", "limits", "optional", "string", "string_view", "vector"})
    out.line("#include <{}>", header);
  out.blank();
  for (const char* header :
       {"base/bytes.hpp", "base/result.hpp", "base/uuid.hpp", "model/ids.hpp", "protocol/errors.hpp"}) {
    out.line("#include \"{}\"", header);
  }
  out.blank();
  out.raw("namespace braidmq::protocol {");
  out.blank();
  out.raw("struct decode_limit;");
  out.raw("class wire_reader;");
  out.raw("class wire_writer;");
  for (const message_def& message : file.messages) emit_message(out, message);
  out.blank();
  out.raw("}  // namespace braidmq::protocol");
  return out.take();
}

}  // namespace braidmq::schemagen
