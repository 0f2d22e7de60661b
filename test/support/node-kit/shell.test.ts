import { expect, it } from 'vitest';
import { ProgramError, run } from './shell.ts';

it('returns the output of a program', async () => {
  expect(await run('sh', ['-c', 'echo out; echo err >&2'])).toEqual({ stdout: 'out\n', stderr: 'err\n' });
  await expect(run('sh', ['-c', 'echo half; exit 3'])).rejects.toThrow(ProgramError);
});

it('continues a program that was stopped', async () => {
  expect(await run('sh', ['-c', 'kill -STOP $$; echo awake'])).toMatchObject({ stdout: 'awake\n' });
});

it('ends a program that takes too long', async () => {
  await expect(run('sh', ['-c', 'trap "" TERM; while :; do sleep 0.1; done'], 300)).rejects.toThrow(
    ProgramError,
  );
});
