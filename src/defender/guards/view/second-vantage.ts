/**
 * R20: a machine of which nothing is heard may be well, and our view of it cut. Where a policy names a second vantage point, a repair of a
 * silent machine that takes its node down needs a witness there, and none that disagrees.
 */
import { RACK } from '../../../api/diagnosis/dimensions.ts';
import type { Sign } from '../../../api/diagnosis/evidence.ts';
import {
  hasEnoughPeers,
  isReached,
  judgePeerAnswers,
  type PeerProbes,
} from '../../../api/diagnosis/peer-answers.ts';
import { choosePeers, judgePeers, type PeerPlace } from '../../../api/diagnosis/peers.ts';
import type { DefenderPolicySpec } from '../../../api/generated/types.ts';
import type { DenialCause } from '../../../api/grants.ts';
import type { MachineFacts } from '../../facts/facts.ts';
import { takesNodeDown } from '../../ledger/entries.ts';
import type { PreparedPolicy } from '../../policies/prepare.ts';
import { type GuardInput, isRepair, type PolicyGuard } from '../guard.ts';

export const secondVantage: PolicyGuard = {
  id: 'second-vantage',
  reasons: ['SecondVantageMissing', 'SecondVantageDisagrees'],
  proof: { promise: 'a repair of a machine in a rack that is cut', seed: 1, days: 1, machines: 90 },
  skippedByRecovery: false,
  checkedAtRenewal: true,
  checkPolicy: checkVantage,
};

type Vantage = DefenderPolicySpec['selfDoubt']['secondVantage'][number];

/** A witness confirms that the machine itself is silent, denies it, or knows nothing. */
type Testimony =
  | { readonly type: 'Confirms' | 'Missing' }
  | { readonly type: 'Disagrees'; readonly because: string };

const CONFIRMS: Testimony = { type: 'Confirms' };
const MISSING: Testimony = { type: 'Missing' };

const WITNESSES: Readonly<Record<Vantage, (input: GuardInput) => Testimony>> = {
  PeerAgents: testimonyOfPeers,
  // A provider that answers is reached by another network than the machine, so it confirms whatever power it tells.
  Provider: ({ machine: { power = 'Unknown' } }) => (power === 'Unknown' ? MISSING : CONFIRMS),
};

/** Machines near it that are silent, too, and an agent that reaches its kubelet show that it is not the machine. */
function testimonyOfPeers(input: GuardInput): Testimony {
  const { machine, facts, now } = input;
  const near = judgePeers(choosePeers(placeOf(machine), placesOf(facts.machines())), (peer) =>
    signOf(peer.machine),
  );
  if (near === 'Silent') {
    return { type: 'Disagrees', because: 'and so are most machines near it: the network or the view is cut' };
  }
  const { name, silence } = machine;
  const probes = judgePeerAnswers({ name, silence }, (peer) => facts.machine(peer)?.peers, now);
  if (isReached(probes.result)) return { type: 'Disagrees', because: explainReached(probes) };
  // Peers that were asked have to answer. Where too few can be asked, or none, because its address is not known, their Leases decide.
  const isOpen = silence !== undefined && hasEnoughPeers(silence) && probes.result === 'Unknown';
  return near === 'Alive' && !isOpen ? CONFIRMS : MISSING;
}

function explainReached({ result, peers }: PeerProbes): string {
  const found = result === 'KubeletAnswers' ? 'answers' : 'accepts connections';
  return `but its kubelet ${found} when probed by ${peers.join(', ')}: its way to the API server may be cut`;
}

function checkVantage(input: GuardInput, { spec }: PreparedPolicy): readonly DenialCause[] {
  const { secondVantage: asked } = spec.selfDoubt;
  const { ask, machine } = input;
  if (asked.length === 0 || !isRepair(input) || !takesNodeDown(ask.risk)) return [];
  if (signOf(machine) !== 'Silent') return [];
  const found = asked.map((each) => ({ each, testimony: WITNESSES[each](input) }));
  for (const { each, testimony } of found) {
    if (testimony.type !== 'Disagrees') continue;
    const message = `machine ${machine.name} is silent, ${testimony.because}`;
    return [{ reason: 'SecondVantageDisagrees', message, key: each }];
  }
  if (found.some(({ testimony }) => testimony.type === 'Confirms')) return [];
  const message = `machine ${machine.name} is silent, and no witness confirms it: ${asked.join(', ')}`;
  return [{ reason: 'SecondVantageMissing', message }];
}

interface ObservedPlace extends PeerPlace {
  readonly machine: MachineFacts;
}

function placeOf(machine: MachineFacts): ObservedPlace {
  const { name, zone, labels } = machine;
  return { name, zone, rack: labels[RACK], machine };
}

/** Returns the places of those that can tell anything: new machines must not take the place of their neighbors as peers. */
function* placesOf(machines: Iterable<MachineFacts>): Iterable<ObservedPlace> {
  for (const machine of machines) if (signOf(machine) !== 'Unknown') yield placeOf(machine);
}

/** A machine that was never in service can neither confirm anything, nor fall silent. */
function signOf({ readiness, agentReports, established, nodeUID }: MachineFacts): Sign {
  if (agentReports) return 'Alive';
  if (!established || nodeUID === undefined) return 'Unknown';
  return readiness === 'Unknown' ? 'Silent' : 'Alive';
}
