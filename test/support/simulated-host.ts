/**
 * A host of an import that exists only as its SSH server: it answers the scripts of an import as a host does, with a key of its own for the
 * agent, and runs a simulated agent with the certificate that is delivered.
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { runSimulatedAgent } from '../../src/agent/simulate/agent.ts';
import { connectSimulated } from '../../src/agent/simulate/connect.ts';
import { AGENT_GROUP, agentUser } from '../../src/api/names.ts';
import { digestOf } from '../../src/kube/objects/digest.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { systemRandom } from '../../src/os/system-random.ts';
import { createCertificateRequest } from '../../src/os/x509/certificate-request.ts';
import type { DeliveredAccess } from '../../src/providers/ssh/import/contract.ts';
import {
  ACCEPT,
  COPY,
  INSTALL,
  LAST_LINE,
  LOOK_UP,
  REQUEST,
} from '../../src/providers/ssh/import/scripts.ts';
import { PREFLIGHT } from '../../src/providers/ssh/preflight/script.ts';
import {
  type CommandSession,
  type LibraryServer,
  startLibraryServer,
} from '../providers/ssh/library-server.ts';
import { hostOutput } from '../providers/ssh/preflight/host-output.ts';
import { memoryLog } from './memory-log.ts';

export interface SimulatedHost extends LibraryServer {
  readonly address: string;
  /** The scripts that it ran, by their names. */
  readonly calls: readonly string[];
}

export interface SimulatedHostOptions {
  readonly address: string;
  /** The public key that may log in. */
  readonly authorized: string;
  /** Whether it accepts connections, and never answers to a command. */
  readonly hangs?: boolean;
}

const clock = createSystemClock();
const SCRIPTS = [PREFLIGHT, LOOK_UP, COPY, INSTALL, REQUEST, ACCEPT];
const ARCH = process.arch === 'x64' ? 'x86_64' : 'aarch64';
const ANSWERS: Readonly<Record<string, string>> = {
  [LOOK_UP.name]: `arch=${ARCH}\nfree-kib=100000000\n${LAST_LINE}\n`,
  [COPY.name]: `result=Copied\nprogram=/var/lib/kubenode/incoming/program\n${LAST_LINE}\n`,
  [INSTALL.name]: JSON.stringify({ version: '9.8.7', sha256: 'a'.repeat(64) }),
};

export async function startSimulatedHost(options: SimulatedHostOptions): Promise<SimulatedHost> {
  const { address, authorized, hangs = false } = options;
  const calls: string[] = [];
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const stop = new AbortController();
  const agents: Promise<void>[] = [];
  const server = await startLibraryServer({
    address,
    authorized,
    ...(!hangs && { onCommand: (session: CommandSession) => void answer(session) }),
  });
  return {
    ...server,
    address,
    calls,
    close: async () => {
      stop.abort();
      await Promise.all(agents);
      await server.close();
    },
  };

  async function answer(session: CommandSession): Promise<void> {
    session.write('kubenode-ready\n');
    const input = await readAll(session);
    const start = input.indexOf('\n') + 1;
    const end = start + Number(input.subarray(0, start).toString());
    const script = SCRIPTS.find(({ text }) => text === input.toString('utf8', start, end));
    calls.push(script?.name ?? 'unknown script');
    const output = script && outputOf(script.name, input.toString('latin1', end).split('\n'));
    session.write(output ?? '');
    session.exit(output === undefined ? 70 : 0);
    session.end();
  }

  /** `machine`: the first value after the root, which the preflight does not have. */
  function outputOf(name: string, [, machine = '', json = '']: readonly string[]): string | undefined {
    if (name === PREFLIGHT.name) return factsOf(address);
    if (name === REQUEST.name) {
      const subject = { commonName: agentUser(machine), organization: AGENT_GROUP };
      return createCertificateRequest(subject, privateKey);
    }
    if (name !== ACCEPT.name) return ANSWERS[name];
    const access = JSON.parse(json) as DeliveredAccess;
    agents.push(runDeliveredAgent(machine, { access, privateKey, signal: stop.signal }));
    return '';
  }
}

export interface DeliveredAgent {
  readonly access: DeliveredAccess;
  readonly privateKey: KeyObject;
  readonly signal: AbortSignal;
}

/** Runs a simulated agent with what an import delivered. */
export async function runDeliveredAgent(
  machine: string,
  { access, privateKey, signal }: DeliveredAgent,
): Promise<void> {
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const { server: url, ca = '', certificatePem: cert } = access;
  const client = connectSimulated({ server: url, ca, cert, key, clock });
  try {
    const parts = { machine, client, version: '9.8.7', clock, random: systemRandom, log: memoryLog() };
    await runSimulatedAgent(parts, signal);
  } finally {
    await client.close();
  }
}

/** A clock that is right, and ids of its own. */
function factsOf(address: string): string {
  return hostOutput({
    time: String(Math.floor(clock.now().getTime() / 1000)),
    arch: ARCH,
    hostname: `h-${address.replaceAll('.', '-')}`,
    'machine-id': digestOf(address).slice('sha256:'.length, 'sha256:'.length + 32),
  });
}

/** More than a script and its values have. */
const KEPT_BYTES = 256 * 1024;

/** Reads until the client has sent all, and keeps none of a program. The session stays open for the answer. */
function readAll(session: CommandSession): Promise<Buffer> {
  const parts: Buffer[] = [];
  let kept = 0;
  return new Promise((resolve) => {
    session.on('data', (part: Buffer) => {
      if (kept < KEPT_BYTES) parts.push(part);
      kept += part.length;
    });
    session.once('end', () => resolve(Buffer.concat(parts)));
  });
}
