// What an object that is being deleted still waits for, in words: its conditions name it at once, and when it lasts
// they say Stalled and an event tells of it.
#pragma once

#include "reconcile/environment.hpp"

namespace braidmq::reconcile {

class deletion_wait {
 public:
  deletion_wait(const environment& env, const api::row& of);

  void add_pods(const std::vector<api::row>& pods);
  void add_claims(const std::vector<api::claim>& claims);
  void add_set(const object_key& set);
  void add_foreign_finalizers(std::string_view ours);  // those of the object itself

  bool any() const { return !things_.empty(); }
  bool lasts() const { return lasts_; }  // longer than such a thing takes by itself
  io::duration until_it_lasts() const;
  std::string words() const;

 private:
  void add(std::string thing, std::int64_t since_s);

  const environment& env_;
  const api::row& of_;
  std::vector<std::string> things_;
  bool lasts_ = false;
  bool may_be_abandoned_ = false;
};

// Writes `status` (of a BraidCluster or BraidPool) with conditions that say so.
status write_deletion_wait(environment& env, const k8s::resource_type& type, const api::row& row,
                           std::uint64_t old_hash, const api::condition_list& old_conditions, json status,
                           const deletion_wait& wait);

}  // namespace braidmq::reconcile
