// Makers of random values: fields that a version lacks keep their default, so that what is encoded and decoded in that
// version must come back equal.
#include "protocol/schemagen/check.hpp"
#include "protocol/schemagen/code_writer.hpp"
#include "protocol/schemagen/cpp_names.hpp"
#include "protocol/schemagen/emit.hpp"

namespace braidmq::schemagen {
namespace {

class random_emitter {
 public:
  random_emitter(code_writer& out, const message_def& message) : out_(out), message_(message) {}

  void emit() {
    out_.blank();
    out_.raw("namespace {");
    for (const struct_def& structure : message_.structs)
      function(structure, type_name(message_) + "::" + structure.name);
    out_.blank();
    out_.raw("}  // namespace");
    function(message_.body, type_name(message_));
  }

 private:
  void function(const struct_def& s, const std::string& type) {
    out_.blank();
    out_.open(
        "void fill_random([[maybe_unused]] random_source& random, [[maybe_unused]] {}& value, "
        "[[maybe_unused]] std::int16_t version)",
        type);
    for (const field_def& field : s.fields) {
      std::string condition = version_condition(field.versions, s.versions);
      if (field.tag) condition += std::string(condition.empty() ? "" : " && ") + "random.coin()";
      if (!condition.empty()) out_.open("if ({})", condition);
      member(field);
      if (!condition.empty()) out_.close();
    }
    out_.close();
  }

  void member(const field_def& field) {
    const std::string name = "value." + field.name;
    if (!field.has_nullable) return fill(field, name);
    const std::string condition = version_condition(field.nullable, field.versions);
    out_.open("if ({}random.one_in(4))", condition.empty() ? "" : "(" + condition + ") && ");
    out_.line("{}.reset();", name);
    out_.otherwise();
    out_.line("auto& inner = {}.emplace();", name);
    fill(field, "inner");
    out_.close();
  }

  void fill(const field_def& field, const std::string& target) {
    if (!field.is_array) {
      if (field.base == base_type::structure) return out_.line("fill_random(random, {}, version);", target);
      return out_.line("{} = {};", target, expression(field));
    }
    out_.open("for (std::size_t left = random.count(); left > 0; --left)");
    if (field.base == base_type::structure) {
      out_.line("fill_random(random, {}.emplace_back(), version);", target);
    } else {
      out_.line("{}.push_back({});", target, expression(field));
    }
    out_.close();
  }

  static std::string expression(const field_def& field) {
    switch (field.base) {
      case base_type::boolean:
        return "random.coin()";
      case base_type::float64:
        return "random.float64()";
      case base_type::uuid:
        return "random.id()";
      case base_type::string:
        return "random.text()";
      case base_type::bytes:
      case base_type::records:
        return "random.block()";
      default:
        break;
    }
    const std::string plain = fmt::format("random.integer<{}>()", wire_integer(field));
    return field.as.empty() ? plain : fmt::format("{}{{{}}}", find_strong_type(field.as)->cpp, plain);
  }

  code_writer& out_;
  const message_def& message_;
};

}  // namespace

std::string emit_random_header(const schema_file& file) {
  code_writer out;
  out.line("// Generated from {} by schemagen; do not edit.", file.path);
  out.raw("#pragma once");
  out.blank();
  out.line("#include \"protocol/generated/{}.hpp\"", file.stem);
  out.raw("#include \"protocol/random_source.hpp\"");
  out.blank();
  out.raw("namespace braidmq::protocol {");
  out.blank();
  for (const message_def& message : file.messages) {
    out.line("void fill_random(random_source& random, {}& value, std::int16_t version);", type_name(message));
  }
  out.blank();
  out.raw("}  // namespace braidmq::protocol");
  return out.take();
}

std::string emit_random_source(const schema_file& file) {
  code_writer out;
  out.line("// Generated from {} by schemagen; do not edit.", file.path);
  out.line("#include \"protocol/generated/{}_random.hpp\"", file.stem);
  out.blank();
  out.raw("namespace braidmq::protocol {");
  for (const message_def& message : file.messages) random_emitter(out, message).emit();
  out.blank();
  out.raw("}  // namespace braidmq::protocol");
  return out.take();
}

}  // namespace braidmq::schemagen
