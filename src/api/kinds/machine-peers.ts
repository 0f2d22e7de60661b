/** The parts of the status of a Machine that its peers use: who probes a silent machine, and what the agents of its peers found. */
import { PEER_RESULTS } from '../enums.ts';
import { choice, int, list, listMap, name, named, text, time } from '../schema.ts';

const PORT = [1, 65_535] as const;

const target = {
  address: text('IP address that is probed.', { max: 45 }),
  port: int('Port of the kubelet.', PORT),
};

export const silenceSchema = named(
  'MachineSilence',
  'Present while the agent is silent: the peers whose agents probe the machine.',
  {
    ...target,
    since: time('When the probes were asked for.'),
    peers: list('Machines whose agents probe it.', name('Name of a Machine.', 253), [1, 6]),
  },
);

export const probeRequestsSchema = listMap(
  'Silent machines that the agent is asked to probe.',
  ['machine'],
  named('PeerProbeRequest', 'A silent machine that the agent probes.', {
    machine: name('Name of the Machine.', 253),
    ...target,
    since: time('When the probes were asked for.'),
  }),
  [0, 8],
);

export const peersSchema = listMap(
  'Results of the probes of silent machines by the agent.',
  ['machine'],
  named('PeerAnswer', 'Result of a connection to the kubelet of a silent machine.', {
    machine: name('Name of the Machine.', 253),
    result: choice(
      'KubeletAnswers: it answered over HTTP. PortOpen: its port accepts connections, and nothing answers. Refused: the host refuses connections to it. NoAnswer: nothing answers. Unknown: the agent could not try.',
      PEER_RESULTS,
    ),
    requestedAt: time('`since` of the request that it answers.'),
    since: time('When the result was found first.'),
    lastProbeTime: time('When the result was found last. Written at most every two minutes.'),
  }),
  [0, 8],
);
