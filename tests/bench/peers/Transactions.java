// Transactions.java BOOTSTRAP TOPIC TOPIC
//
// Transactions of one record of 1 KiB to each of two topics, one after the other, by one producer. Each line on standard
// input is for how many seconds; what came of it is answered as a line of JSON. One process for all rounds: a virtual
// machine that has just started is no measure.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.Locale;
import java.util.Properties;
import java.util.Random;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class Transactions {
  private static final int MOST = 2_000_000;

  public static void main(String[] args) throws Exception {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", args[0]);
    settings.put("transactional.id", "bench-" + ProcessHandle.current().pid());
    settings.put("linger.ms", "0");
    byte[] value = new byte[1024];
    new Random(1).nextBytes(value);
    try (KafkaProducer<byte[], byte[]> producer =
            new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
      producer.initTransactions();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        System.out.println(measure(producer, args[1], args[2], value, Double.parseDouble(line)));
      }
    }
  }

  private static String measure(
      KafkaProducer<byte[], byte[]> producer, String first, String second, byte[] value, double seconds) {
    long[] took = new long[MOST];
    int count = 0;
    long until = System.nanoTime() + (long) (seconds * 1e9);
    while (System.nanoTime() < until && count < MOST) {
      long begun = System.nanoTime();
      producer.beginTransaction();
      producer.send(new ProducerRecord<>(first, 0, null, value));
      producer.send(new ProducerRecord<>(second, 0, null, value));
      producer.commitTransaction();
      took[count++] = System.nanoTime() - begun;
    }
    Arrays.sort(took, 0, count);
    return String.format(Locale.ROOT, "{\"p50_ms\": %.3f, \"p99_ms\": %.3f, \"count\": %d}",
        took[(count - 1) / 2] / 1e6, took[(int) Math.ceil(0.99 * count) - 1] / 1e6, count);
  }
}
