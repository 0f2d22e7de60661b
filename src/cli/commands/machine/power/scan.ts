/** Prints the fingerprint of the certificate that a BMC shows, for `spec.bmc.certificateFingerprint`. Nothing is sent to it. */
import { endpointOf } from '../../../../providers/power/bmc-switch.ts';
import { scanFingerprint } from '../../../../providers/redfish/connection.ts';
import { CliError, EXIT } from '../../../errors.ts';
import type { Io } from '../../../io.ts';
import { type OutputFormat, printResult } from '../../../output.ts';

const TIMEOUT_MS = 20_000;

export async function printFingerprint(io: Io, address: string, output: OutputFormat): Promise<void> {
  const endpoint = endpointOf({ address, certificateFingerprint: '' }, TIMEOUT_MS);
  if (!endpoint) {
    throw new CliError(
      `expected the address of a BMC as https://HOST[:PORT], got ${JSON.stringify(address)}`,
      {
        exitCode: EXIT.usage,
      },
    );
  }
  const certificateFingerprint = await scanFingerprint(endpoint, io.signal).catch((error: unknown) => {
    io.signal.throwIfAborted();
    const why = error instanceof Error ? error.message : 'no TLS connection';
    throw new CliError(`BMC ${address} is unreachable: ${why}`, {
      hint: 'check the address, and that this machine reaches the network of the BMCs',
      exitCode: EXIT.unavailable,
      cause: error,
    });
  });
  printResult(io, output, { address, certificateFingerprint }, () => ({
    columns: ['address', 'fingerprint'],
    rows: [[address, certificateFingerprint]],
  }));
  io.err('Compare it with the certificate that the BMC shows on its own page before you declare it.\n');
}
