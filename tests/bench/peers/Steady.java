// Steady.java BOOTSTRAP TOPIC PARTITIONS RATE
//
// Small records at a fixed rate, to all partitions in turn, by a producer of defaults, until standard input ends. A line
// "ack PARTITION MICROSECONDS" (since 1970) for each acknowledgement, "error WORDS" for each record that failed.
// steady.py does the same with librdkafka.

import java.io.PrintStream;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

public class Steady {
  private static volatile boolean ended = false;

  public static void main(String[] args) throws Exception {
    int partitions = Integer.parseInt(args[2]);
    long between = 1_000_000_000L / Integer.parseInt(args[3]);
    Properties settings = new Properties();
    settings.put("bootstrap.servers", args[0]);
    PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true);
    Thread input = new Thread(() -> {
      try {
        while (System.in.read() >= 0) {}
      } catch (java.io.IOException e) {
        // Whoever held the other end is gone: the end as well.
      }
      ended = true;
    });
    input.setDaemon(true);
    input.start();
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      long next = System.nanoTime();
      for (int i = 0; !ended; i++) {
        while (System.nanoTime() < next) {
          java.util.concurrent.locks.LockSupport.parkNanos(next - System.nanoTime());
        }
        next += between;
        producer.send(new ProducerRecord<>(args[1], i % partitions, null, "record " + i), (metadata, error) -> {
          if (error == null) {
            out.println("ack " + metadata.partition() + " " + ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));
          } else {
            out.println("error " + error);
          }
        });
      }
    }
  }
}
