/** Verifies over SSH that nothing of a Machine is left on a host before the host goes back to its pool. */
import { messageOf } from '../../../../os/errors.ts';
import { ProviderError } from '../../../../providers/contract.ts';
import type { PooledHost } from '../../../../providers/ssh/pool/host.ts';
import { importOfPooledHost } from '../../../../providers/ssh/pool/pool.ts';
import type { SshProviderOptions } from '../../../../providers/ssh/pool/provider.ts';
import { type ImportParts, withTarget } from './steps.ts';

const OWN_PATH = /kubenode/;

export function createCleanCheck(parts: ImportParts): SshProviderOptions['verifyClean'] {
  return async (host, machineUid, signal) => {
    const found = await pathsOn(host, { parts, machineUid, signal });
    if (found.length === 0) return;
    throw notClean(`${host.address} still has ${found.join(', ')}`);
  };
}

interface CleanCheck {
  readonly parts: ImportParts;
  readonly machineUid: string;
  readonly signal: AbortSignal;
}

async function pathsOn(
  host: PooledHost,
  { parts, machineUid, signal }: CleanCheck,
): Promise<readonly string[]> {
  const target = { machine: 'a host of a pool', machineUid, spec: importOfPooledHost(host) };
  try {
    const { facts } = await withTarget(target, { parts, signal }, (connected) =>
      connected.inspect(undefined),
    );
    return facts.paths.filter((path) => OWN_PATH.test(path));
  } catch (error) {
    signal.throwIfAborted();
    throw notClean(`${host.address} cannot be checked: ${messageOf(error)}`, error);
  }
}

function notClean(message: string, cause?: unknown): ProviderError {
  return new ProviderError('Retryable', message, { reason: 'CleanupIncomplete', cause });
}
