/**
 * R20: a machine of which nothing is heard may be well, and our view of it cut. Where a policy names a second vantage point, a repair of a
 * silent machine that takes its node down needs a witness there, and none that disagrees.
 */
import type { Sign } from '../../../api/diagnosis/evidence.ts';
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
type Testimony = 'Confirms' | 'Disagrees' | 'Missing';

const RACK = 'topology.kubernetes.io/rack';

const WITNESSES: Readonly<Record<Vantage, (input: GuardInput) => Testimony>> = {
  PeerAgents: ({ machine, facts }) => {
    const peers = choosePeers(placeOf(machine), placesOf(facts.machines()));
    return TESTIMONIES[judgePeers(peers, (peer) => signOf(peer.machine))];
  },
  // A provider that answers is reached by another network than the machine, so it confirms whatever power it tells.
  Provider: ({ machine: { power = 'Unknown' } }) => (power === 'Unknown' ? 'Missing' : 'Confirms'),
};

/** While its neighbors are silent, too, it is not the machine. */
const TESTIMONIES: Readonly<Record<Sign, Testimony>> = {
  Alive: 'Confirms',
  Silent: 'Disagrees',
  Unknown: 'Missing',
};

function checkVantage(input: GuardInput, { spec }: PreparedPolicy): readonly DenialCause[] {
  const { secondVantage: asked } = spec.selfDoubt;
  const { ask, machine } = input;
  if (asked.length === 0 || !isRepair(input) || !takesNodeDown(ask.risk)) return [];
  if (signOf(machine) !== 'Silent') return [];
  const found = asked.map((each) => ({ each, testimony: WITNESSES[each](input) }));
  const against = found.find(({ testimony }) => testimony === 'Disagrees');
  if (against) {
    const message = `machine ${machine.name} is silent, and so are most machines near it: the network or the view is cut`;
    return [{ reason: 'SecondVantageDisagrees', message, key: against.each }];
  }
  if (found.some(({ testimony }) => testimony === 'Confirms')) return [];
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
