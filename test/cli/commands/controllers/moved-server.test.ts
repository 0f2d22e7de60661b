import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseBootstrapFile } from '../../../../src/agent/identity/bootstrap-file.ts';
import { formatIdentityKubeconfig } from '../../../../src/agent/identity/kubeconfig.ts';
import { IDENTITY_KUBECONFIG } from '../../../../src/agent/layout.ts';
import { followServer } from '../../../../src/cli/commands/controllers/moved-server.ts';
import { formatBootstrapConfig } from '../../../../src/cli/local/bootstrap-config.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { instanceFolder } from '../../../../src/providers/local/folders.ts';
import { markedEnvironment } from '../../../../src/providers/local/processes.ts';
import { tempFolder } from '../../../support/temp.ts';

const clock = createSystemClock();
const UID = '5d0e3a52-2f0c-4c43-9d54-0a4c6c4d7a11';
const [OLD, NEW] = ['https://127.0.0.1:16444', 'https://127.0.0.1:16447'];
const KUBECONFIG = { certificateFile: '/pki/kubelet.pem', caFile: '/pki/ca.crt' };

interface Joined {
  readonly machines: string;
  readonly read: () => readonly string[];
  readonly files: readonly string[];
}

function joined(server: string): Joined {
  const machines = tempFolder('machines');
  const { hostFolder, bootstrapFile } = instanceFolder(machines, UID);
  const contents = new Map([
    [join(hostFolder, IDENTITY_KUBECONFIG), formatIdentityKubeconfig({ server, ...KUBECONFIG })],
    [bootstrapFile, formatBootstrapConfig({ server, ca: 'ca', user: { token: 'abcdef.0123456789abcdef' } })],
  ]);
  for (const [path, text] of contents) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
  }
  const files = [...contents.keys()];
  return { machines, files, read: () => files.map((path) => readFileSync(path, 'utf8')) };
}

/** A process of the instance, as an agent that ran through the move. */
async function runningAgent(machines: string): Promise<ReturnType<typeof spawn>> {
  const env = { ...process.env, ...markedEnvironment(instanceFolder(machines, UID).path) };
  const agent = spawn('sleep', ['100'], { env });
  onTestFinished(() => void agent.kill('SIGKILL'));
  await once(agent, 'spawn');
  return agent;
}

describe('followServer', () => {
  it('gives agent and kubelet the new address of an API server that moved, and ends what knows the old one', async () => {
    const { machines, read, files } = joined(OLD);
    const agent = await runningAgent(machines);
    await followServer(machines, NEW, clock);
    expect(read()).toEqual(joined(NEW).read());
    expect(parseBootstrapFile(read()[1] ?? '', 'file').server).toBe(NEW);
    expect(files.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
    await expect.poll(() => agent.signalCode).toBe('SIGKILL');
  });

  it('leaves machines alone whose API server is where it was', async () => {
    const { machines, read } = joined(NEW);
    const agent = await runningAgent(machines);
    await followServer(machines, NEW, clock);
    expect(read()).toEqual(joined(NEW).read());
    expect(agent.kill(0)).toBe(true);
  });

  it('needs no file: a machine may not have joined yet', async () => {
    const machines = tempFolder('machines');
    mkdirSync(join(machines, UID));
    await expect(followServer(machines, NEW, clock)).resolves.toBe(undefined);
  });
});
