// Atomic.java BOOTSTRAP TOPIC SMALL_TOPIC TOPIC
//
// An idempotent producer, as it is by default, on topics with produce.atomic=true, the second of which takes small
// batches only. What flush() sends of several topics goes in one request; one that the second topic refuses must fail for
// all of them, with errors that the client does not repeat, and the producer must go on. Ends 1 with what is wrong.

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.OperationNotAttemptedException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.StringSerializer;

public class Atomic {
  private static final int SETS = 30;

  public static void main(String[] args) throws Exception {
    List<String> topics = List.of(args).subList(1, args.length);
    Properties settings = new Properties();
    settings.put("bootstrap.servers", args[0]);
    settings.put("linger.ms", "60000");
    settings.put("delivery.timeout.ms", "120000");
    int refused = 0;
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      for (String topic : topics) {
        producer.partitionsFor(topic);  // so that no set is torn by a wait for metadata
      }
      for (int i = 0; i < SETS; i++) {
        boolean spoiled = i % 3 == 1;
        String name = "set-" + i;
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (int t = 0; t < topics.size(); t++) {
          String value = spoiled && t == 1 ? name + "x".repeat(3000) : name;
          sent.add(producer.send(new ProducerRecord<>(topics.get(t), 0, null, value)));
        }
        producer.flush();
        if (spoiled) {
          expectRefused(sent);
          refused++;
        } else {
          for (Future<RecordMetadata> one : sent) {
            one.get();
          }
        }
      }
    }
    System.out.printf("%d sets, %d of them refused whole%natomic: all as expected%n", SETS, refused);
  }

  private static void expectRefused(List<Future<RecordMetadata>> sent) throws Exception {
    for (int t = 0; t < sent.size(); t++) {
      try {
        RecordMetadata written = sent.get(t).get();
        throw new AssertionError("a slice of a refused set is written: " + written);
      } catch (ExecutionException e) {
        Class<?> expected = t == 1 ? RecordBatchTooLargeException.class : OperationNotAttemptedException.class;
        if (!expected.isInstance(e.getCause()) || e.getCause() instanceof RetriableException) {
          throw e;
        }
      }
    }
  }
}
