// Admin.java BOOTSTRAP create TOPIC:PARTITIONS...   creates topics
// Admin.java BOOTSTRAP check PREFIX                 createTopics, describeTopics, listOffsets against what was written
//
// `java -cp 'build/deps/java/*' tests/integration/java/Admin.java ...` runs it; ends 1 with the first thing that is wrong.

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.StringSerializer;

public class Admin {
  private static final int TIMEOUT_MS = 30_000;

  public static void main(String[] args) throws Exception {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", args[0]);
    settings.put("default.api.timeout.ms", TIMEOUT_MS);
    settings.put("request.timeout.ms", TIMEOUT_MS / 2);
    try (AdminClient admin = AdminClient.create(settings)) {
      switch (args[1]) {
        case "create" -> create(admin, List.of(args).subList(2, args.length));
        case "check" -> check(admin, args[0], args[2]);
        default -> throw new IllegalArgumentException(args[1]);
      }
    }
  }

  private static void create(AdminClient admin, List<String> topics) throws Exception {
    List<NewTopic> wanted = new ArrayList<>();
    for (String topic : topics) {
      String[] parts = topic.split(":");
      wanted.add(new NewTopic(parts[0], Integer.parseInt(parts[1]), (short) 1));
    }
    admin.createTopics(wanted).all().get();
    for (String topic : topics) {
      System.out.println("created " + topic);
    }
  }

  private static void check(AdminClient admin, String bootstrap, String prefix) throws Exception {
    String name = prefix + "-admin";
    create(admin, List.of(name + ":3"));
    expectCause(TopicExistsException.class, () -> create(admin, List.of(name + ":3")));
    expectCause(InvalidTopicException.class, () -> create(admin, List.of("../" + prefix + ":1")));
    expectCause(UnknownTopicOrPartitionException.class,
        () -> admin.describeTopics(List.of(prefix + "-missing")).allTopicNames().get());

    TopicDescription description = admin.describeTopics(List.of(name)).allTopicNames().get().get(name);
    equal("partitions", 3, description.partitions().size());
    equal("the leader is a broker of the cluster", true,
        admin.describeCluster().nodes().get().contains(description.partitions().get(0).leader()));

    long begin = System.currentTimeMillis();
    Properties settings = new Properties();
    settings.put("bootstrap.servers", bootstrap);
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      for (int i = 0; i < 10; i++) {
        // One batch each: a look-up by time must find a record inside the log, not only a batch's first one.
        producer.send(new ProducerRecord<>(name, 1, begin + i * 1000L, null, "value " + i)).get();
      }
    }
    TopicPartition partition = new TopicPartition(name, 1);
    equal("earliest", 0L, offset(admin, partition, OffsetSpec.earliest()));
    equal("latest", 10L, offset(admin, partition, OffsetSpec.latest()));
    equal("by time, exact", 4L, offset(admin, partition, OffsetSpec.forTimestamp(begin + 4000)));
    equal("by time, between two", 5L, offset(admin, partition, OffsetSpec.forTimestamp(begin + 4001)));
    equal("by time, after all", -1L, offset(admin, partition, OffsetSpec.forTimestamp(begin + 60_000)));
    equal("of the greatest time", 9L, offset(admin, partition, OffsetSpec.maxTimestamp()));
    equal("latest of an empty partition", 0L, offset(admin, new TopicPartition(name, 2), OffsetSpec.latest()));
    System.out.println("admin: all as expected");
  }

  private static long offset(AdminClient admin, TopicPartition partition, OffsetSpec spec) throws Exception {
    return admin.listOffsets(Map.of(partition, spec)).partitionResult(partition).get().offset();
  }

  private interface Call {
    void run() throws Exception;
  }

  private static void expectCause(Class<? extends Exception> type, Call call) throws Exception {
    try {
      call.run();
    } catch (ExecutionException e) {
      if (type.isInstance(e.getCause())) {
        return;
      }
      throw e;
    }
    throw new AssertionError("expected " + type.getSimpleName());
  }

  private static void equal(String what, Object expected, Object found) {
    if (!expected.equals(found)) {
      throw new AssertionError(what + ": expected " + expected + ", found " + found);
    }
  }
}
