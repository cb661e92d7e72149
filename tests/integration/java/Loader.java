// Loader.java BOOTSTRAP ACKED_FILE FIRST COUNT PER_SECOND TOPIC:PARTITIONS...
//
// Sends records numbered from FIRST round the topics and their partitions with a default (idempotent) producer, and adds
// one line "topic partition offset value" to ACKED_FILE for each record that the broker acknowledged, when it did. It
// outlives a broker that dies and comes back. Verifier.java holds the file against what the topics hold. Ends 1 when a
// record was given up. SIGTERM lets it stop sending, and end when all that it sent is answered.
//
// ACKED_FILE.stalls has a line "END SECONDS" for each time of 20 ms or more without an acknowledgement; END is of Linux's
// monotonic clock.

import java.io.BufferedWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;

public class Loader {
  private static final int MAX_IN_FLIGHT = 200;
  private static final long STALL_NS = 20_000_000;
  private static volatile boolean stopping;

  public static void main(String[] args) throws Exception {
    int first = Integer.parseInt(args[2]);
    int count = Integer.parseInt(args[3]);
    long gapNs = 1_000_000_000L / Long.parseLong(args[4]);
    List<TopicPartition> partitions = new ArrayList<>();
    for (String topic : List.of(args).subList(5, args.length)) {
      String[] parts = topic.split(":");
      for (int partition = 0; partition < Integer.parseInt(parts[1]); partition++) {
        partitions.add(new TopicPartition(parts[0], partition));
      }
    }
    Properties settings = new Properties();
    settings.put("bootstrap.servers", args[0]);
    settings.put("delivery.timeout.ms", 120_000);
    settings.put("request.timeout.ms", 10_000);
    settings.put("reconnect.backoff.max.ms", 500);

    Semaphore inFlight = new Semaphore(MAX_IN_FLIGHT);
    AtomicLong acknowledged = new AtomicLong();
    AtomicReference<Exception> failure = new AtomicReference<>();
    stopAtSignal();
    int sent = 0;
    try (BufferedWriter acked = append(args[1]);
        BufferedWriter stalls = append(args[1] + ".stalls");
        KafkaProducer<String, String> producer =
            new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      long next = System.nanoTime();
      AtomicLong last = new AtomicLong(next);
      for (int i = 0; i < count && !stopping && failure.get() == null; i++, sent++) {
        // While the broker is away the load waits with it, and afterwards it does not come in one burst.
        inFlight.acquire();
        next = Math.max(next + gapNs, System.nanoTime());
        for (long wait; (wait = next - System.nanoTime()) > 0; ) {
          LockSupport.parkNanos(wait);
        }
        TopicPartition to = partitions.get(i % partitions.size());
        String value = to.topic() + "-" + (first + i);
        // Callbacks run one at a time, on the producer's own thread.
        producer.send(new ProducerRecord<>(to.topic(), to.partition(), null, value), (metadata, error) -> {
          inFlight.release();
          if (error != null) {
            failure.compareAndSet(null, error);
            return;
          }
          try {
            acked.write(to.topic() + " " + to.partition() + " " + metadata.offset() + " " + value + "\n");
            acked.flush();
            acknowledged.incrementAndGet();
            note(stalls, last);
          } catch (java.io.IOException e) {
            failure.compareAndSet(null, e);
          }
        });
      }
      producer.flush();
    }
    System.out.println("acknowledged " + acknowledged.get() + " of " + sent);
    if (failure.get() != null) {
      System.out.println("gave up: " + failure.get());
      System.out.flush();
      Runtime.getRuntime().halt(1);  // exit() would wait for the signal's hook, which waits for this thread
    }
  }

  private static void stopAtSignal() {
    Thread loading = Thread.currentThread();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      stopping = true;
      try {
        loading.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }));
  }

  private static BufferedWriter append(String path) throws java.io.IOException {
    return Files.newBufferedWriter(Path.of(path), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private static void note(BufferedWriter stalls, AtomicLong last) throws java.io.IOException {
    long now = System.nanoTime();
    long length = now - last.getAndSet(now);
    if (length >= STALL_NS) {
      stalls.write(String.format("%.6f %.6f%n", now / 1e9, length / 1e9));
      stalls.flush();
    }
  }
}
