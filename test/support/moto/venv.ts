/** The moto server, an emulator of EC2, in a Python environment of its own, installed once for each machine. */
import { join } from 'node:path';
import { noPythonToolReason, pythonTool } from '../python-tools.ts';

const MOTO = { name: 'moto', version: '5.2.5', extras: ['server', 'ec2'] } as const;

/** Why this machine has no moto; undefined if it has it, or can install it. */
export const noMotoReason = noPythonToolReason(MOTO);

/** Path of the server. */
export async function motoServer(): Promise<string> {
  return join(await pythonTool(MOTO), 'moto_server');
}
