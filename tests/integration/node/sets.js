// sets.js BOOTSTRAP: sets through kafkajs's sendBatch, which makes one Produce request for all that goes to one broker. Not
// idempotent: kafkajs allows that with one request in flight only. The lines are those of ../go/sets/sets.go; sendBatch
// fails as a whole with the first error, so a refused set has one code.
'use strict'
const readline = require('readline')
const { Kafka, logLevel } = require('kafkajs')

const bootstrap = process.argv[2]
const kafka = new Kafka({ clientId: 'sets', brokers: [bootstrap], logLevel: logLevel.NOTHING })
const producer = kafka.producer({
  allowAutoTopicCreation: false,
  createPartitioner: () => ({ message }) => message.partition,
  retry: { retries: 5 },
})

function parse(fields) {
  const [name, ...places] = fields
  const topicMessages = places.map(place => {
    const [topic, partition, size, time] = place.split(':')
    const timestamp = Number(time) < 0 ? {} : { timestamp: time }
    const value = Buffer.from(`@${name}@`.padEnd(Number(size), '.'))
    return { topic, messages: [{ partition: Number(partition), value, ...timestamp }] }
  })
  return { name, topicMessages }
}

function code(error) {
  for (let at = error; at; at = at.cause) {
    if (typeof at.code === 'number') return String(at.code)
  }
  return `local:${error.message}`.replace(/\s/g, '_')
}

async function send({ name, topicMessages }) {
  let said
  try {
    await producer.sendBatch({ acks: -1, topicMessages })
    said = topicMessages.map(() => '0').join(' ')
  } catch (error) {
    said = code(error)
  }
  console.log(`${name} ${said}`)
}

async function main() {
  await producer.connect()
  const open = []
  let waiting = []
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (line === 'go') {
      open.push(...waiting.map(send))
      waiting = []
      console.log('sent')
    } else {
      waiting.push(parse(line.split(' ')))
    }
  }
  await Promise.all(open)
  await producer.disconnect()
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
