/** Simulates a machine that works while its own way to the API server is cut: the agents of its peers reach its kubelet, and report so. */
import { choosePeers } from '../../api/diagnosis/peers.ts';
import type { MachineSilence, PeerAnswer } from '../../api/generated/types.ts';

/** Holds who probes a machine, and what its own agent found. */
export interface ProbedMachine {
  readonly name: string;
  readonly zone: string;
  readonly rack?: string;
  silence: MachineSilence | undefined;
  answers: readonly PeerAnswer[];
}

const CUT_EVERY_MS = 5 * 3_600_000;
const CUT_FROM_MS = 2 * 3_600_000;
const CUT_MS = 2_400_000;
/** Agents write an answer that stays the same this often. */
const REPORT_MS = 120_000;

/** Returns when the cut began; undefined: there is none. It comes by the clock, for forty minutes of each five hours, and never with that of a rack. */
export function linkCutSinceMs(nowMs: number): number | undefined {
  const sinceMs = nowMs - (nowMs % CUT_EVERY_MS) + CUT_FROM_MS;
  return nowMs >= sinceMs && nowMs - sinceMs < CUT_MS ? sinceMs : undefined;
}

/** Has the peers of the machine probe it, and write their answers again in time; returns the machines that changed. */
export function probeCutMachine<M extends ProbedMachine>(
  subject: M,
  machines: readonly M[],
  nowMs: number,
): readonly M[] {
  const sinceMs = linkCutSinceMs(nowMs);
  if (sinceMs === undefined) return subject.silence ? endProbes(subject, machines) : [];
  const { near, far } = choosePeers(subject, machines);
  const peers = [...near, ...far];
  const [answer] = peers[0]?.answers ?? [];
  if (answer && nowMs - Date.parse(answer.lastProbeTime) < REPORT_MS) return [];
  const since = new Date(sinceMs).toISOString();
  subject.silence = { address: '10.0.0.1', port: 10_250, since, peers: peers.map(({ name }) => name) };
  const times = { requestedAt: since, since, lastProbeTime: new Date(nowMs).toISOString() };
  for (const peer of peers) peer.answers = [{ machine: subject.name, result: 'KubeletAnswers', ...times }];
  return [subject, ...peers];
}

function endProbes<M extends ProbedMachine>(subject: M, machines: readonly M[]): readonly M[] {
  const changed = machines.filter((each) => each === subject || each.answers.length > 0);
  for (const each of changed) Object.assign(each, { silence: undefined, answers: [] });
  return changed;
}
