/** Probes the silent machines that the Machine of this agent names. It runs beside the loop of the agent, and probes nothing while none is silent. */
import type { PeerResult } from '../../api/enums.ts';
import type { PeerAnswer, PeerProbeRequest } from '../../api/generated/types.ts';
import type { Clock } from '../../os/clock.ts';
import { dueRequests, type PeerFindings, reportedAnswers, updateFindings } from './plan.ts';
import type { ProbedKubelet } from './probe.ts';

export interface PeerProber {
  /** Returns what was found of the machines that are asked about. */
  answers(): readonly PeerAnswer[];
  /** Probes until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

export interface PeerProberOptions {
  /** Returns the requests; undefined while the API server does not answer: then nothing is probed, and no answer changes. */
  readonly requests: () => readonly PeerProbeRequest[] | undefined;
  /** Never rejects. */
  readonly probe: (kubelet: ProbedKubelet, timeoutMs: number) => Promise<PeerResult>;
  readonly clock: Clock;
}

/** The time within which a new request is noticed. */
const TICK_MS = 5000;
const TIMEOUT_MS = 5000;

export function createPeerProber({ requests, probe, clock }: PeerProberOptions): PeerProber {
  let findings: PeerFindings = new Map();

  async function probeDue(): Promise<void> {
    const before = requests();
    if (!before) return;
    const probedMs = clock.monotonicMs();
    const outcomes = await Promise.all(
      dueRequests(before, findings, probedMs).map(async (request) => {
        const result = await probe({ address: request.address, port: request.port }, TIMEOUT_MS);
        return { request, result, probedMs };
      }),
    );
    findings = updateFindings(findings, before, outcomes, clock.now());
  }

  return {
    answers: () => reportedAnswers(findings),
    async run(signal) {
      while (!signal.aborted) {
        await probeDue();
        await clock.sleep(TICK_MS, signal).catch(() => undefined);
      }
    },
  };
}
