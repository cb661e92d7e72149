// Sessions.java BOOTSTRAP TOPIC PARTITIONS   a consumer of many partitions, of which few have news at a time.
//
// Some are paused and resumed meanwhile, so that they leave the consumer's fetch session and come back; now and then it
// seeks back. Every record must come once after each seek, in the order of its partition. Ends 1 with what is missing.

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class Sessions {
  private static final int ROUNDS = 40;
  private static final long DEADLINE_MS = 60_000;

  public static void main(String[] args) throws Exception {
    String topic = args[1];
    int partitions = Integer.parseInt(args[2]);
    Properties settings = new Properties();
    settings.put("bootstrap.servers", args[0]);
    settings.put("enable.auto.commit", "false");
    settings.put("fetch.max.wait.ms", "100");
    Random random = new Random(7);
    Map<TopicPartition, Long> ends = new HashMap<>();
    Map<TopicPartition, Long> next = new HashMap<>();
    long read = 0;
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        KafkaConsumer<String, String> consumer =
            new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      List<TopicPartition> all = new ArrayList<>();
      for (int p = 0; p < partitions; p++) {
        all.add(new TopicPartition(topic, p));
        ends.put(all.get(p), 0L);
        next.put(all.get(p), 0L);
      }
      consumer.assign(all);
      consumer.seekToBeginning(all);
      for (int round = 0; round < ROUNDS; round++) {
        Set<Integer> paused = new TreeSet<>();
        for (int i = 0; i < round % 4; i++) {
          paused.add(random.nextInt(partitions));
        }
        consumer.pause(paused.stream().map(all::get).toList());
        for (int i = 0; i < 5; i++) {
          TopicPartition to = all.get(random.nextInt(partitions));
          producer.send(new ProducerRecord<>(topic, to.partition(), null, to.partition() + "@" + ends.get(to))).get();
          ends.merge(to, 1L, Long::sum);
        }
        if (round % 10 == 9) {
          TopicPartition back = all.get(random.nextInt(partitions));
          consumer.seek(back, 0);
          next.put(back, 0L);
        }
        read += readUpTo(consumer, ends, next, paused);
        consumer.resume(paused.stream().map(all::get).toList());
        read += readUpTo(consumer, ends, next, Set.of());
      }
    }
    System.out.println("sessions: " + read + " records as sent");
  }

  private static long readUpTo(KafkaConsumer<String, String> consumer, Map<TopicPartition, Long> ends,
      Map<TopicPartition, Long> next, Set<Integer> paused) {
    long deadline = System.currentTimeMillis() + DEADLINE_MS;
    long read = 0;
    while (ends.entrySet().stream().anyMatch(
        end -> !paused.contains(end.getKey().partition()) && next.get(end.getKey()) < end.getValue())) {
      if (System.currentTimeMillis() > deadline) {
        throw new AssertionError("read up to " + next + ", written up to " + ends);
      }
      for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
        TopicPartition from = new TopicPartition(record.topic(), record.partition());
        String expected = record.partition() + "@" + next.get(from);
        if (paused.contains(record.partition()) || !record.value().equals(expected)) {
          throw new AssertionError(from + " offset " + record.offset() + " gave " + record.value() + ", expected " + expected);
        }
        next.merge(from, 1L, Long::sum);
        read++;
      }
    }
    return read;
  }
}
