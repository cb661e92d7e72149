// Verifier.java BOOTSTRAP ACKED_FILE TOPIC...
//
// Reads the topics from the beginning to the end and holds them against the file that Loader.java wrote: every
// acknowledged record stands at its offset, no value stands twice, numbers rise in every partition, offsets have no gaps.
// Records that were sent and never acknowledged may be there, once. Ends 1 with what is wrong.

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

public class Verifier {
  private static final long DEADLINE_MS = 60_000;
  private final List<String> faults = new ArrayList<>();
  private final Map<String, String> expected = new HashMap<>();
  private final Set<String> seen = new HashSet<>();
  private final Map<TopicPartition, Long> lastOffset = new HashMap<>();
  private final Map<TopicPartition, Long> lastNumber = new HashMap<>();
  private long read;

  public static void main(String[] args) throws Exception {
    Verifier verifier = new Verifier();
    for (String line : Files.readAllLines(Path.of(args[1]))) {
      int cut = line.lastIndexOf(' ');
      verifier.expected.put(line.substring(0, cut), line.substring(cut + 1));
    }
    int acknowledged = verifier.expected.size();
    verifier.readAll(args[0], List.of(args).subList(2, args.length));
    for (Map.Entry<String, String> lost : verifier.expected.entrySet()) {
      verifier.faults.add("lost: " + lost.getValue() + ", acknowledged at " + lost.getKey());
    }
    System.out.printf("acknowledged %d, read %d, lost %d, faults %d%n", acknowledged, verifier.read,
        verifier.expected.size(), verifier.faults.size());
    verifier.faults.stream().limit(20).forEach(System.out::println);
    System.exit(verifier.faults.isEmpty() && acknowledged > 0 ? 0 : 1);
  }

  private void readAll(String bootstrap, List<String> topics) {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", bootstrap);
    settings.put("enable.auto.commit", "false");
    long deadline = System.currentTimeMillis() + DEADLINE_MS;
    try (KafkaConsumer<String, String> consumer =
        new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      List<TopicPartition> partitions = new ArrayList<>();
      for (String topic : topics) {
        consumer.partitionsFor(topic).forEach(p -> partitions.add(new TopicPartition(topic, p.partition())));
      }
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
        if (System.currentTimeMillis() > deadline) {
          faults.add("not at the end after " + DEADLINE_MS + " ms: " + ends);
          return;
        }
        for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(500))) {
          check(record);
        }
      }
    }
  }

  private void check(ConsumerRecord<String, String> record) {
    read++;
    TopicPartition partition = new TopicPartition(record.topic(), record.partition());
    String place = record.topic() + " " + record.partition() + " " + record.offset();
    String value = record.value();
    long offset = lastOffset.getOrDefault(partition, -1L);
    if (record.offset() != offset + 1) {
      faults.add("gap: " + place + " follows offset " + offset);
    }
    lastOffset.put(partition, record.offset());
    if (!seen.add(record.topic() + " " + value)) {
      faults.add("twice: " + value + ", again at " + place);
    }
    String wanted = expected.remove(place);
    if (wanted != null && !wanted.equals(value)) {
      faults.add("changed: " + place + " holds " + value + ", acknowledged as " + wanted);
    }
    if (!value.startsWith(record.topic() + "-")) {
      return;  // Not the loader's.
    }
    long number = Long.parseLong(value.substring(record.topic().length() + 1));
    if (number <= lastNumber.getOrDefault(partition, -1L)) {
      faults.add("order: " + value + " at " + place + " follows number " + lastNumber.get(partition));
    }
    lastNumber.put(partition, number);
  }
}
