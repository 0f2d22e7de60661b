/** Shows what the agents of peers found when they probed a silent machine. Pure. */
import { type AnswersOfPeer, hasEnoughPeers, judgePeerAnswers } from '../../api/diagnosis/peer-answers.ts';
import type { PeerResult } from '../../api/enums.ts';
import type { MachineSilence } from '../../api/generated/types.ts';
import { formatAge } from '../text/age.ts';

export interface ProbesView {
  readonly result: PeerResult;
  /** The peers that found it. */
  readonly peers: readonly string[];
  /** The address and port that are probed, and the peers that were asked to. */
  readonly silence: MachineSilence;
}

/** Returns undefined for a machine that no peer was asked about. */
export function viewProbes(
  { name, silence }: { readonly name: string; readonly silence?: MachineSilence | undefined },
  answers: AnswersOfPeer,
  now: Date,
): ProbesView | undefined {
  return silence && { ...judgePeerAnswers({ name, silence }, answers, now), silence };
}

export function probesText({ result, peers, silence }: ProbesView, now: Date): string {
  const { address, port, since } = silence;
  const target = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  const found =
    result === 'Unknown'
      ? `Unknown: ${unknownText(silence)}`
      : `${result} by ${peers.join(', ')}: ${FOUND[result]}`;
  const asked = `${silence.peers.length} asked to probe ${target} for ${formatAge(since, now)}`;
  return `${found}; ${asked}`;
}

const FOUND: Readonly<Record<Exclude<PeerResult, 'Unknown'>, string>> = {
  KubeletAnswers: 'its kubelet answers, so its way to the API server may be cut',
  PortOpen: 'its kubelet accepts connections and does not answer',
  Refused: 'its host is up and refuses connections to the kubelet',
  NoAnswer: 'most peers cannot connect to its kubelet',
};

function unknownText(silence: MachineSilence): string {
  return hasEnoughPeers(silence)
    ? 'no peer reports that it connected, and no majority that it could not'
    : 'no peer reports that it connected, and so few peers do not show that the machine is down';
}
