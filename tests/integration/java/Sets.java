// Sets.java BOOTSTRAP: sets through Java's producer, idempotent as by default, with five requests in flight. Its sender takes
// one batch of each partition into a request; a batch that has room for one record makes a set of what waits together.
// The lines are those of ../go/sets/sets.go.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class Sets {
  public static void main(String[] args) throws Exception {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", args[0]);
    settings.put("linger.ms", "0");
    settings.put("batch.size", "1");
    settings.put("delivery.timeout.ms", "60000");
    settings.put("request.timeout.ms", "30000");
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
      List<String[]> waiting = new ArrayList<>();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (!line.equals("go")) {
          waiting.add(line.split(" "));
          continue;
        }
        for (String[] one : waiting) {
          send(producer, one);
        }
        waiting.clear();
        say("sent");
      }
    }
  }

  private static void send(KafkaProducer<byte[], byte[]> producer, String[] fields) {
    String[] codes = new String[fields.length - 1];
    AtomicInteger left = new AtomicInteger(codes.length);
    for (int i = 0; i < codes.length; i++) {
      int place = i;
      producer.send(parse(fields[0], fields[i + 1]), (written, failure) -> {
        codes[place] = code(failure);
        if (left.decrementAndGet() == 0) {
          say(fields[0] + " " + String.join(" ", codes));
        }
      });
    }
  }

  private static ProducerRecord<byte[], byte[]> parse(String name, String place) {
    String[] parts = place.split(":");
    byte[] value = new byte[Integer.parseInt(parts[2])];
    Arrays.fill(value, (byte) '.');
    byte[] start = ("@" + name + "@").getBytes(StandardCharsets.UTF_8);
    System.arraycopy(start, 0, value, 0, start.length);
    long time = Long.parseLong(parts[3]);
    return new ProducerRecord<>(parts[0], Integer.parseInt(parts[1]), time < 0 ? null : time, null, value);
  }

  private static String code(Exception failure) {
    if (failure == null) {
      return "0";
    }
    Errors known = Errors.forException(failure);
    return known == Errors.UNKNOWN_SERVER_ERROR
        ? "local:" + failure.toString().replaceAll("\\s", "_") : String.valueOf(known.code());
  }

  private static synchronized void say(String line) {
    System.out.println(line);
  }
}
