// Codecs.java BOOTSTRAP TOPIC   writes to a topic with every codec and default (idempotent) producers, reads all back.
//
// The topic must exist, be empty and have one partition. Keys, values, headers and timestamps must come back as sent, in
// order. Ends 1 with the first difference.

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class Codecs {
  private static final String[] CODECS = {"none", "gzip", "snappy", "lz4", "zstd"};
  private static final int RECORDS = 200;
  private static final long DEADLINE_MS = 60_000;

  public static void main(String[] args) throws Exception {
    String bootstrap = args[0];
    String topic = args[1];
    List<ProducerRecord<byte[], byte[]>> sent = new ArrayList<>();
    for (String codec : CODECS) {
      produce(bootstrap, topic, codec, sent);
    }
    consume(bootstrap, topic, sent);
    System.out.println("codecs: " + String.join(", ", CODECS) + ": " + sent.size() + " records as sent");
  }

  private static void produce(String bootstrap, String topic, String codec, List<ProducerRecord<byte[], byte[]>> sent)
      throws Exception {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", bootstrap);
    settings.put("compression.type", codec);
    settings.put("linger.ms", 20);
    Random random = new Random(codec.hashCode());
    int first = sent.size();
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
      List<Future<RecordMetadata>> answers = new ArrayList<>();
      for (int i = 0; i < RECORDS; i++) {
        byte[] value = value(random, i);
        byte[] key = i % 3 == 0 ? null : (codec + " " + i).getBytes();
        ProducerRecord<byte[], byte[]> record =
            new ProducerRecord<>(topic, 0, 1_700_000_000_000L + first + i, key, value);
        record.headers().add("codec", codec.getBytes()).add("empty", null);
        sent.add(record);
        answers.add(producer.send(record));
      }
      for (int i = 0; i < RECORDS; i++) {
        long offset = answers.get(i).get().offset();
        if (offset != first + i) {
          throw new AssertionError(codec + ": record " + i + " got offset " + offset + ", expected " + (first + i));
        }
      }
    }
  }

  // Half of it repeats, so that compression finds something; sizes run from nothing to 40 KB.
  private static byte[] value(Random random, int i) {
    if (i % 10 == 9) {
      return null;
    }
    byte[] value = new byte[i % 25 == 24 ? 40_000 : random.nextInt(300)];
    random.nextBytes(value);
    Arrays.fill(value, 0, value.length / 2, (byte) 'x');
    return value;
  }

  private static void consume(String bootstrap, String topic, List<ProducerRecord<byte[], byte[]>> sent) {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", bootstrap);
    settings.put("enable.auto.commit", "false");
    long deadline = System.currentTimeMillis() + DEADLINE_MS;
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      TopicPartition partition = new TopicPartition(topic, 0);
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      int next = 0;
      while (next < sent.size()) {
        if (System.currentTimeMillis() > deadline) {
          throw new AssertionError("read " + next + " of " + sent.size() + " records in " + DEADLINE_MS + " ms");
        }
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(500))) {
          compare(next, sent.get(next), record);
          next++;
        }
      }
    }
  }

  private static void compare(int at, ProducerRecord<byte[], byte[]> sent, ConsumerRecord<byte[], byte[]> read) {
    boolean same = read.offset() == at && read.timestamp() == sent.timestamp() && Arrays.equals(read.key(), sent.key())
        && Arrays.equals(read.value(), sent.value());
    Header[] expected = sent.headers().toArray();
    Header[] found = read.headers().toArray();
    same = same && expected.length == found.length;
    for (int i = 0; same && i < expected.length; i++) {
      same = expected[i].key().equals(found[i].key()) && Arrays.equals(expected[i].value(), found[i].value());
    }
    if (!same) {
      throw new AssertionError("record " + at + " differs: offset " + read.offset() + ", timestamp " + read.timestamp());
    }
  }
}
