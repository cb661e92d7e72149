// The writes that reconcilers make, each only when something differs.
#pragma once

#include "reconcile/environment.hpp"

namespace braidmq::reconcile {

// Drops the value of a result.
template <class T>
status just_status(result<T> of) {
  if (!of) return tl::unexpected(std::move(of).error());
  return {};
}

// Server-side apply of a whole object that we own. With `live` (its row, or null) nothing is sent while that is still
// what we made; an object of the same name that belongs to somebody else is an error of code name_taken.
enum class write_errc { name_taken = 1 };
std::error_code make_error_code(write_errc code);

result<bool> apply_if_different(environment& env, const k8s::resource_type& type, const json& wanted,
                                const api::owned_object* live);

// Deletes what is ours and no longer wanted; `live` may be null.
status remove_if_there(environment& env, const k8s::resource_type& type, const api::owned_object* live);

// Writes a status unless it is what was last written. The same conditions are written at most every 5 s; what is left
// to wait then is the result. An object that is gone meanwhile is no error.
result<io::duration> write_status(environment& env, const k8s::resource_type& type, const api::row& row,
                                  std::uint64_t old_hash, const api::condition_list& old_conditions,
                                  const json& wanted);

// By JSON patch with a test of the resourceVersion, because others write that list too. Nothing is sent when it is so.
status add_finalizer(environment& env, const k8s::resource_type& type, const api::row& row, std::string_view finalizer);
status remove_finalizer(environment& env, const k8s::resource_type& type, const api::row& row,
                        std::string_view finalizer);

// Conditions with the generation they were made for, beginning with those of the last status. One may be set more than
// once in a pass: the last word counts, and its transition time is that of a change against the last status.
class conditions {
 public:
  conditions(api::condition_list last, std::int64_t generation, std::int64_t now_s)
      : before_(last), list_(std::move(last)), generation_(generation), now_s_(now_s) {}

  void set(std::string_view type, api::condition_status status, std::string_view reason, std::string_view message);
  void yes(std::string_view type, std::string_view reason, std::string_view message) {
    set(type, api::condition_status::yes, reason, message);
  }
  void no(std::string_view type, std::string_view reason, std::string_view message) {
    set(type, api::condition_status::no, reason, message);
  }
  void unknown(std::string_view type, std::string_view reason, std::string_view message) {
    set(type, api::condition_status::unknown, reason, message);
  }
  void drop(std::string_view type);
  const api::condition_list& list() const { return list_; }

 private:
  api::condition_list before_;
  api::condition_list list_;
  std::int64_t generation_;
  std::int64_t now_s_;
};

}  // namespace braidmq::reconcile

template <>
struct std::is_error_code_enum<braidmq::reconcile::write_errc> : std::true_type {};
