/**
 * Judges what the agents of peers found when they probed a silent machine. One that reaches it is believed, so that a machine that works is
 * left alone; that no peer reaches it is concluded from a majority only, so that no machine declares another one dead. Pure.
 */
import type { PeerResult } from '../enums.ts';
import type { MachineSilence, PeerAnswer } from '../generated/types.ts';

/** Fewer peers prove nothing: one that is broken, or hostile, must be outvoted. */
const MIN_PEERS = 3;
/** An agent writes its answer again every two minutes: one more may be missed. */
const MAX_AGE_MS = 300_000;
/** The clock of a peer may be ahead by this much, as that of every other witness. */
const MAX_AHEAD_MS = 30_000;

export interface PeerProbes {
  readonly result: PeerResult;
  /** The peers that found it. */
  readonly peers: readonly string[];
}

/** `answers` returns the status of a peer; undefined: the machine does not exist, or reports no answers. */
export type AnswersOfPeer = (peer: string) => readonly PeerAnswer[] | undefined;

/** Returns Unknown for a machine that no peer was asked about. */
export function judgePeerAnswers(
  subject: { readonly name: string; readonly silence: MachineSilence | undefined },
  answers: AnswersOfPeer,
  now: Date,
): PeerProbes {
  const { name, silence } = subject;
  if (!silence) return { result: 'Unknown', peers: [] };
  const asked = [...new Set(silence.peers)].filter((peer) => peer !== name);
  const results = new Map(
    asked.map((peer) => [peer, resultOf(name, silence, answers(peer) ?? [], now)] as const),
  );
  const thatFound = (...wanted: readonly PeerResult[]): readonly string[] =>
    asked.filter((peer) => wanted.includes(results.get(peer) ?? 'Unknown'));
  for (const result of ['KubeletAnswers', 'PortOpen'] as const) {
    const peers = thatFound(result);
    if (peers.length > 0) return { result, peers };
  }
  const isMajority = (peers: readonly string[]): boolean =>
    asked.length >= MIN_PEERS && peers.length * 2 > asked.length;
  const refused = thatFound('Refused');
  if (isMajority(refused)) return { result: 'Refused', peers: refused };
  const unserved = thatFound('Refused', 'NoAnswer');
  return isMajority(unserved) ? { result: 'NoAnswer', peers: unserved } : { result: 'Unknown', peers: [] };
}

/** Tells whether so many peers were asked that their silence on the machine counts. A fleet of three machines has two. */
export function hasEnoughPeers({ peers }: MachineSilence): boolean {
  return peers.length >= MIN_PEERS;
}

/** Tells whether a peer reached the kubelet: then the machine must not be repaired as one that is dead. */
export function isReached(result: PeerResult): boolean {
  return result === 'KubeletAnswers' || result === 'PortOpen';
}

/** Returns Unknown for an answer to an earlier request, and for one that is too old. */
function resultOf(
  subject: string,
  { since }: MachineSilence,
  answers: readonly PeerAnswer[],
  now: Date,
): PeerResult {
  const answer = answers.find(({ machine }) => machine === subject);
  if (!answer || Date.parse(answer.requestedAt) !== Date.parse(since)) return 'Unknown';
  const ageMs = now.getTime() - Date.parse(answer.lastProbeTime);
  return ageMs <= MAX_AGE_MS && ageMs >= -MAX_AHEAD_MS ? answer.result : 'Unknown';
}
