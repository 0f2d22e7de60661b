import { Command } from 'commander';
import { addConnectionOptions, type ConnectionFlags, connectFrom } from '../connection.ts';
import { CliError, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../output.ts';
import { KUBENODE_VERSION } from '../version.ts';

export function createVersionCommand(io: Io): Command {
  const command = new Command('version')
    .description('print the versions of kubenode, Node.js and, with --server, the API server')
    .option('--server', 'also print the version of the API server')
    .addOption(createOutputOption());
  return addConnectionOptions(command).action(
    async (flags: ConnectionFlags & { server?: true; output: OutputFormat }) => {
      const versions = {
        kubenode: KUBENODE_VERSION,
        node: process.version,
        platform: `${process.platform}/${process.arch}`,
        ...(flags.server ? await readServerVersion(io, flags) : {}),
      };
      printResult(io, flags.output, versions, () => ({
        columns: ['part', 'version'],
        rows: Object.entries(versions),
      }));
    },
  );
}

async function readServerVersion(
  io: Io,
  flags: ConnectionFlags,
): Promise<{ server: string; serverURL: string }> {
  const client = await connectFrom(io, flags);
  try {
    const answer = (await client.raw('/version', { signal: io.signal })) as { gitVersion?: unknown };
    if (typeof answer.gitVersion !== 'string') {
      throw new CliError(
        'the response to /version has no gitVersion: the server is not a Kubernetes API server',
        {
          where: client.server,
          hint: 'check the server URL in the kubeconfig',
          exitCode: EXIT.unavailable,
        },
      );
    }
    return { server: answer.gitVersion, serverURL: client.server };
  } finally {
    await client.close();
  }
}
