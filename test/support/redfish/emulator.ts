/** The Redfish emulator of sushy-tools, with systems in memory: power changes seconds after a request was accepted, as on real BMCs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { scanFingerprint } from '../../../src/providers/redfish/connection.ts';
import { eventually } from '../eventually.ts';
import { noPythonToolReason, pythonTool } from '../python-tools.ts';
import { bmcCertificate } from './certificate.ts';

const SUSHY = { name: 'sushy-tools', version: '2.2.0' } as const;

/** Why this machine has no emulator; undefined if it has it, or can install it. */
export const noEmulatorReason = noPythonToolReason(SUSHY);

export async function installEmulator(): Promise<string> {
  return await pythonTool(SUSHY);
}

export interface EmulatedSystem {
  readonly uuid: string;
  readonly name: string;
  readonly power: 'On' | 'Off';
}

export interface Emulator extends AsyncDisposable {
  readonly address: string;
  readonly port: number;
  readonly fingerprint: string;
}

export const EMULATOR_USER = 'admin';
export const EMULATOR_PASSWORD = 'secret-of-bmc';
/** Made by bcrypt, the only form that the emulator reads. */
const HTPASSWD = 'admin:$2y$04$5yct/BO.w1jpM2YV7MqeDeFjrUrwz5hP4o/A.kuqt3gOM3l0EtHxu\n';

/** `notifyUrl`: gets each change of power by PUT, before it is visible. */
export async function startEmulator(
  folder: string,
  systems: readonly EmulatedSystem[],
  notifyUrl?: string,
): Promise<Emulator> {
  const [bin, port] = [await installEmulator(), await findFreePort()];
  const { certPem, keyPem, fingerprint } = bmcCertificate();
  const file = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  mkdirSync(join(folder, 'state'), { recursive: true });
  const fakes = systems.map(({ uuid, name, power }) => ({
    uuid,
    name,
    power_state: power,
    nics: [],
    external_notifier: notifyUrl !== undefined,
  }));
  const settings: Readonly<Record<string, unknown>> = {
    SUSHY_EMULATOR_LISTEN_IP: '127.0.0.1',
    SUSHY_EMULATOR_LISTEN_PORT: port,
    SUSHY_EMULATOR_STATE_DIR: join(folder, 'state'),
    SUSHY_EMULATOR_SSL_CERT: file('tls.crt', certPem),
    SUSHY_EMULATOR_SSL_KEY: file('tls.key', keyPem),
    SUSHY_EMULATOR_AUTH_FILE: file('htpasswd', HTPASSWD),
    SUSHY_EMULATOR_FAKE_SYSTEMS: fakes,
    EXTERNAL_NOTIFICATION_URL: notifyUrl ?? '',
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} = json.loads(${toPython(value)})`);
  const config = file('emulator.py', `import json\n${lines.join('\n')}\n`);
  const child = spawn(join(bin, 'sushy-emulator'), ['--fake', '--config', config], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const own = new AbortController();
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`the emulator ended with exit code ${child.exitCode}`);
    const endpoint = { host: '127.0.0.1', port, timeoutMs: 2000 };
    return await scanFingerprint(endpoint, own.signal).catch(() => undefined);
  }, 'the emulator does not answer');
  return {
    address: `https://127.0.0.1:${port}`,
    port,
    fingerprint,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** A text of Python that contains the value as JSON. */
function toPython(value: unknown): string {
  return JSON.stringify(JSON.stringify(value));
}
