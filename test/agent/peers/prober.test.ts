import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ProbedKubelet } from '../../../src/agent/peers/probe.ts';
import { createPeerProber, type PeerProber } from '../../../src/agent/peers/prober.ts';
import type { PeerResult } from '../../../src/api/enums.ts';
import type { PeerProbeRequest } from '../../../src/api/generated/types.ts';
import { settle, type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

let clock: VirtualClock;
let requests: readonly PeerProbeRequest[] | undefined;
let probed: string[];
let probe: (kubelet: ProbedKubelet) => Promise<PeerResult>;

function request(machine: string, address = '10.0.0.1'): PeerProbeRequest {
  return { machine, address, port: 10_250, since: '2030-01-01T11:59:00Z' };
}

async function start(): Promise<PeerProber> {
  const prober = createPeerProber({
    requests: () => requests,
    probe: (kubelet, timeoutMs) => {
      probed.push(`${kubelet.address}:${kubelet.port} ${timeoutMs}`);
      return probe(kubelet);
    },
    clock,
  });
  const abort = new AbortController();
  const running = prober.run(abort.signal);
  onTestFinished(async () => {
    abort.abort();
    await running;
  });
  await settle();
  return prober;
}

const found = (prober: PeerProber): readonly string[] =>
  prober.answers().map(({ machine, result }) => `${machine} ${result}`);

beforeEach(() => {
  clock = virtualClock();
  requests = [];
  probed = [];
  probe = async () => 'NoAnswer';
});

describe('the probes of silent machines', () => {
  it('R20 connect to nothing while no machine is silent', async () => {
    const prober = await start();
    await clock.advance(600_000);
    expect([probed, prober.answers()]).toEqual([[], []]);
  });

  it('R20 begin within five seconds after a request, and are repeated every thirty', async () => {
    const prober = await start();
    requests = [request('s-1')];
    await clock.advance(5000);
    expect(probed).toEqual(['10.0.0.1:10250 5000']);
    expect(found(prober)).toEqual(['s-1 NoAnswer']);
    probe = async () => 'KubeletAnswers';
    await clock.advance(29_999);
    expect(found(prober)).toEqual(['s-1 NoAnswer']);
    await clock.advance(1);
    expect(found(prober)).toEqual(['s-1 KubeletAnswers']);
    requests = [];
    await clock.advance(5000);
    expect(prober.answers()).toEqual([]);
  });

  it('R20 are at most sixteen a minute, whatever is asked for', async () => {
    requests = Array.from({ length: 50 }, (_, index) => request(`s-${index}`));
    await start();
    await clock.advance(59_999);
    expect(probed).toHaveLength(16);
  });

  it('R20 are not made, and answers do not change, while the API server does not answer', async () => {
    requests = [request('s-1')];
    const prober = await start();
    const before = prober.answers();
    requests = undefined;
    await clock.advance(600_000);
    expect(probed).toHaveLength(1);
    expect(prober.answers()).toEqual(before);
  });

  it('R20 wait for one another, so that a slow host does not add up connections', async () => {
    const slow = Promise.withResolvers<PeerResult>();
    probe = () => slow.promise;
    requests = [request('s-1')];
    const prober = await start();
    await clock.advance(120_000);
    expect(probed).toHaveLength(1);
    slow.resolve('PortOpen');
    await settle();
    expect(found(prober)).toEqual(['s-1 PortOpen']);
  });
});
