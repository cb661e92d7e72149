// Admin.java BOOTSTRAP create TOPIC:PARTITIONS...   creates topics
// Admin.java BOOTSTRAP check PREFIX                 createTopics, describeTopics, listOffsets against what was written
// Admin.java BOOTSTRAP change PREFIX                createPartitions, configs, deleteTopics by name and by id, the name anew
//
// `java -cp 'build/deps/java/*' tests/integration/java/Admin.java ...` runs it; ends 1 with the first thing that is wrong.

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidPartitionsException;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicIdException;
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
        case "change" -> change(admin, args[0], args[2]);
        case "config" -> show(admin, args[2], args[3]);
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

    describeCluster(admin, bootstrap);

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
    equal("earliest that is local", 0L, offset(admin, partition, OffsetSpec.earliestLocal()));
    equal("latest that is tiered", -1L, offset(admin, partition, OffsetSpec.latestTiered()));
    equal("latest of an empty partition", 0L, offset(admin, new TopicPartition(name, 2), OffsetSpec.latest()));
    System.out.println("admin: all as expected");
  }

  private static void describeCluster(AdminClient admin, String bootstrap) throws Exception {
    DescribeClusterResult plain = admin.describeCluster();
    equal("operations when nobody asked", true, plain.authorizedOperations().get() == null);
    equal("an id of the cluster", 22, plain.clusterId().get().length());
    DescribeClusterResult all =
        admin.describeCluster(new DescribeClusterOptions().includeAuthorizedOperations(true).includeFencedBrokers(true));
    equal("brokers", 1, all.nodes().get().size());
    Node broker = all.nodes().get().iterator().next();
    equal("its address", bootstrap, broker.host() + ":" + broker.port());
    equal("it is not fenced", false, broker.isFenced());
    equal("the controller", broker.id(), all.controller().get().id());
    equal("operations", Set.of(AclOperation.CREATE, AclOperation.ALTER, AclOperation.DESCRIBE, AclOperation.CLUSTER_ACTION,
        AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS, AclOperation.IDEMPOTENT_WRITE), all.authorizedOperations().get());
  }

  private static void change(AdminClient admin, String bootstrap, String prefix) throws Exception {
    String name = prefix + "-change";
    create(admin, List.of(name + ":2"));
    send(bootstrap, name, 0, "old");
    grow(admin, name);
    configure(admin, name);

    Uuid first = describe(admin, name).topicId();
    admin.deleteTopics(List.of(name)).all().get();
    expectCause(UnknownTopicOrPartitionException.class, () -> describe(admin, name));
    expectCause(UnknownTopicOrPartitionException.class, () -> admin.deleteTopics(List.of(name)).all().get());
    expectCause(UnknownTopicIdException.class,
        () -> admin.deleteTopics(TopicCollection.ofTopicIds(List.of(first))).all().get());

    create(admin, List.of(name + ":1"));
    TopicDescription anew = describe(admin, name);
    equal("partitions of the new topic", 1, anew.partitions().size());
    equal("another id", false, anew.topicId().equals(first));
    equal("nothing old", 0L, offset(admin, new TopicPartition(name, 0), OffsetSpec.latest()));
    equal("configs of the new topic", "604800000", config(admin, name, "retention.ms").value());
    equal("the first offset", 0L, send(bootstrap, name, 0, "new"));
    admin.deleteTopics(TopicCollection.ofTopicIds(List.of(anew.topicId()))).all().get();
    expectCause(UnknownTopicOrPartitionException.class, () -> describe(admin, name));
    System.out.println("change: all as expected");
  }

  private static void grow(AdminClient admin, String name) throws Exception {
    admin.createPartitions(Map.of(name, NewPartitions.increaseTo(5))).all().get();
    equal("partitions", 5, describe(admin, name).partitions().size());
    equal("a new partition is empty", 0L, offset(admin, new TopicPartition(name, 4), OffsetSpec.latest()));
    equal("an old one is not", 1L, offset(admin, new TopicPartition(name, 0), OffsetSpec.latest()));
    for (int count : new int[] {5, 2, -1}) {
      expectCause(InvalidPartitionsException.class,
          () -> admin.createPartitions(Map.of(name, NewPartitions.increaseTo(count))).all().get());
    }
    expectCause(UnknownTopicOrPartitionException.class,
        () -> admin.createPartitions(Map.of(name + "-missing", NewPartitions.increaseTo(3))).all().get());
  }

  private static void configure(AdminClient admin, String name) throws Exception {
    alter(admin, name, AlterConfigOp.OpType.SET, "retention.ms", "1000");
    alter(admin, name, AlterConfigOp.OpType.APPEND, "cleanup.policy", "compact");
    equal("a value that is set", "1000", config(admin, name, "retention.ms").value());
    equal("its source", ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG, config(admin, name, "retention.ms").source());
    equal("its type", ConfigEntry.ConfigType.LONG, config(admin, name, "retention.ms").type());
    equal("a list", "delete,compact", config(admin, name, "cleanup.policy").value());
    equal("a default", ConfigEntry.ConfigSource.DEFAULT_CONFIG, config(admin, name, "segment.ms").source());
    alter(admin, name, AlterConfigOp.OpType.DELETE, "retention.ms", null);
    equal("the default again", "604800000", config(admin, name, "retention.ms").value());
    expectCause(InvalidConfigurationException.class,
        () -> alter(admin, name, AlterConfigOp.OpType.SET, "retention.mss", "1000"));
    expectCause(InvalidConfigurationException.class,
        () -> alter(admin, name, AlterConfigOp.OpType.SET, "retention.ms", "soon"));
    ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER,
        admin.describeCluster().nodes().get().iterator().next().idString());
    equal("configs of the broker are read-only", true,
        admin.describeConfigs(List.of(broker)).all().get().get(broker).get("num.partitions").isReadOnly());
    expectCause(InvalidRequestException.class, () -> admin.incrementalAlterConfigs(
        Map.of(broker, List.of(new AlterConfigOp(new ConfigEntry("num.partitions", "3"), AlterConfigOp.OpType.SET)))).all().get());
  }

  private static TopicDescription describe(AdminClient admin, String name) throws Exception {
    return admin.describeTopics(List.of(name)).allTopicNames().get().get(name);
  }

  private static ConfigEntry config(AdminClient admin, String topic, String name) throws Exception {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    return admin.describeConfigs(List.of(resource)).all().get().get(resource).get(name);
  }

  private static void show(AdminClient admin, String topic, String name) throws Exception {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    DescribeConfigsOptions options = new DescribeConfigsOptions().includeDocumentation(true);
    ConfigEntry found = admin.describeConfigs(List.of(resource), options).all().get().get(resource).get(name);
    System.out.println(name + "=" + found.value() + " " + found.source() + " " + found.type() + " " + found.documentation());
  }

  private static void alter(AdminClient admin, String topic, AlterConfigOp.OpType what, String name, String value)
      throws Exception {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    AlterConfigOp operation = new AlterConfigOp(new ConfigEntry(name, value), what);
    admin.incrementalAlterConfigs(Map.of(resource, List.of(operation))).all().get();
  }

  private static long send(String bootstrap, String topic, int partition, String value) throws Exception {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", bootstrap);
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      return producer.send(new ProducerRecord<>(topic, partition, null, value)).get().offset();
    }
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
