import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { type ConnectionFlags, connectFrom, connectionOptions } from '../connection.ts';
import { CliError, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';
import { type Format, outputOption, print } from '../output.ts';

export const VERSION = readVersion();

/** `src/cli/commands` in a checkout and `dist/cli/commands` in the package lie equally deep under package.json. */
function readVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

export function versionCommand(io: Io): Command {
  const command = new Command('version')
    .description('print the versions of kubenode, of Node and, with --server, of an API server')
    .option('--server', 'ask the API server for its version too')
    .addOption(outputOption());
  return connectionOptions(command).action(
    async (flags: ConnectionFlags & { server?: true; output: Format }) => {
      const versions = {
        kubenode: VERSION,
        node: process.version,
        platform: `${process.platform}/${process.arch}`,
        ...(flags.server ? await serverVersion(io, flags) : {}),
      };
      print(io, flags.output, versions, () => ({
        columns: ['part', 'version'],
        rows: Object.entries(versions),
      }));
    },
  );
}

async function serverVersion(io: Io, flags: ConnectionFlags): Promise<{ server: string; serverURL: string }> {
  const client = await connectFrom(io, flags);
  try {
    const answer = (await client.raw('/version', { signal: io.signal })) as { gitVersion?: unknown };
    if (typeof answer.gitVersion !== 'string') {
      throw new CliError('the answer to /version names no gitVersion: this is no Kubernetes API server', {
        where: client.server,
        hint: 'check the server in the kubeconfig',
        exitCode: EXIT.unavailable,
      });
    }
    return { server: answer.gitVersion, serverURL: client.server };
  } finally {
    await client.close();
  }
}
