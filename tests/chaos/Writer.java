// Writer.java NAME BOOTSTRAP HISTORY TOPIC:PARTITIONS...
//
// Java's default (idempotent) producer as a writer of a run: the same history, sessions and end by SIGTERM as `load.py producer`.

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;

public class Writer {
  private static final int UNDER_WAY = 500;
  private static final long GAP_NS = 1_000_000_000L / 1_000;

  private static volatile boolean ended = false;

  public static void main(String[] args) throws Exception {
    List<TopicPartition> partitions = new ArrayList<>();
    for (String topic : List.of(args).subList(3, args.length)) {
      String[] parts = topic.split(":");
      for (int partition = 0; partition < Integer.parseInt(parts[1]); partition++) {
        partitions.add(new TopicPartition(parts[0], partition));
      }
    }
    CountDownLatch written = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      ended = true;
      int code = 1;
      try {
        code = written.await(150, TimeUnit.SECONDS) ? 0 : 1;
      } catch (InterruptedException e) {
        // It ends as one that failed.
      }
      Runtime.getRuntime().halt(code);
    }));
    try (PrintWriter history = new PrintWriter(Files.newBufferedWriter(Path.of(args[2])))) {
      int givenUp = 0;
      for (int session = 0; !ended; session++) {
        givenUp += new Session(args[0] + "." + session, history).run(settings(args[1]), partitions) ? 0 : 1;
      }
      if (givenUp > 0) {
        System.err.println(args[0] + ": " + givenUp + " sessions gave up on a record");
      }
      if (history.checkError()) {
        throw new IOException("the history could not be written");
      }
    }
    written.countDown();
  }

  private static Properties settings(String bootstrap) {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", bootstrap);
    settings.put("linger.ms", 2);
    settings.put("delivery.timeout.ms", 120_000);
    settings.put("max.block.ms", 120_000);
    settings.put("request.timeout.ms", 5_000);
    settings.put("socket.connection.setup.timeout.ms", 2_000);
    settings.put("socket.connection.setup.timeout.max.ms", 2_000);
    settings.put("reconnect.backoff.max.ms", 500);
    return settings;
  }

  /** One producer, until the end or until it has given up on a record: what was under way is unknown then. */
  private static class Session {
    private final String name;
    private final PrintWriter history;
    private final Semaphore room = new Semaphore(UNDER_WAY);
    private volatile boolean failed = false;
    private int sent = 0;

    Session(String name, PrintWriter history) {
      this.name = name;
      this.history = history;
    }

    boolean run(Properties settings, List<TopicPartition> partitions) throws InterruptedException {
      // Leaving the block waits for what is under way.
      try (KafkaProducer<String, String> out = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
        long next = System.nanoTime();
        while (!ended && !failed) {
          if (!room.tryAcquire(100, TimeUnit.MILLISECONDS)) {
            continue;
          }
          next = Math.max(next + GAP_NS, System.nanoTime() - 100 * GAP_NS);
          LockSupport.parkNanos(next - System.nanoTime());
          send(out, partitions.get(sent % partitions.size()), sent++);
        }
      }
      history.println("sent " + name + " " + sent);
      return !failed;
    }

    private void send(KafkaProducer<String, String> out, TopicPartition to, int number) {
      try {
        // Callbacks run one at a time, on the producer's own thread.
        out.send(new ProducerRecord<>(to.topic(), to.partition(), null, name + " " + number), (metadata, error) -> {
          room.release();
          if (error != null) {
            failed = true;
            return;
          }
          history.println("ack " + name + " " + to.topic() + " " + to.partition() + " " + metadata.offset() + " " + number);
        });
      } catch (KafkaException e) {
        failed = true;
      }
    }
  }
}
