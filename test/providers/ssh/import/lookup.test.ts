import { describe, expect, it } from 'vitest';
import { copyError, planCopy, readLookup } from '../../../../src/providers/ssh/import/lookup.ts';
import type { AgentProgram } from '../../../../src/providers/ssh/import/programs.ts';

const PROGRAM: AgentProgram = {
  version: '1.0.0',
  arch: 'x86_64',
  sha256: 'a'.repeat(64),
  sizeBytes: 150 * 1024 * 1024,
  compressedFile: '/programs/agent.gz',
};
const FOLDER = { folder: '/programs', programs: [PROGRAM] };
const FREE = 'free-kib=1000000\n';
const END = 'end=complete\n';

describe('planCopy', () => {
  it.each<[name: string, facts: string, want: string]>([
    ['copies to a host that has no program', `arch=x86_64\n${FREE}`, 'Copy'],
    [
      'copies none that is there',
      `arch=x86_64\nprogram=/p/kubenode-agent\nfree-kib=0\n`,
      'Present /p/kubenode-agent',
    ],
    ['refuses another architecture', `arch=riscv64\n${FREE}`, 'ProgramMissing'],
    ['refuses an architecture that is not known', FREE, 'ProgramMissing'],
    ['wants gzip and sha256sum', `arch=x86_64\nlacks=gzip\nlacks=sha256sum\n${FREE}`, 'ToolsMissing'],
    ['wants space for the copy and the program', `arch=x86_64\nfree-kib=300000\n`, 'NoSpace'],
    ['wants a file system to write to', `arch=x86_64\nread-only=/var/lib\n${FREE}`, 'ReadOnly'],
    ['lets a host try that did not tell its space', 'arch=x86_64\n', 'Copy'],
  ])('%s', (_, facts, want) => {
    expect(decide(`${facts}${END}`)).toBe(want);
  });

  it.each([
    ['arch=riscv64\n', 'the host is riscv64'],
    ['', 'the host did not tell its architecture'],
  ])('names the folder that has no program for %j', (arch, host) => {
    const facts = readLookup(`${arch}${FREE}${END}`);
    expect(() => facts && planCopy(facts, FOLDER, 'root@n1:22')).toThrow(
      expect.objectContaining({
        code: 'ProgramMissing',
        message: `${host}, and the folder /programs has the program of the agent for x86_64 only`,
        hint: expect.stringContaining('npm run build:agent') as string,
      }) as Error,
    );
  });

  it('names what is missing', () => {
    const facts = readLookup(`arch=x86_64\nlacks=gzip\n${FREE}${END}`);
    expect(() => facts && planCopy(facts, FOLDER, 'root@n1:22')).toThrow(
      expect.objectContaining({ message: 'the host has no gzip', where: 'root@n1:22' }) as Error,
    );
  });
});

describe('readLookup', () => {
  it.each([
    ['', 'None'],
    ['owner=own\n', 'Own'],
    ['owner=other\nowner-name=n0\n', 'Other n0'],
    ['owner=other\nowner-name=$(reboot)\n', 'Other'],
  ])('reads the owner of %j', (lines, want) => {
    const { owner, ownerName } = readLookup(`${lines}${END}`) ?? {};
    expect([owner, ownerName].filter(Boolean).join(' ')).toBe(want);
  });

  it('takes half an output for none', () => {
    expect(readLookup('arch=x86_64\n')).toBeUndefined();
  });
});

describe('copyError', () => {
  it.each([
    ['result=Copied\n', undefined],
    [`result=NotUnpacked\n${FREE}`, 'VerifyFailed the program that arrived is not the expected one: gzip: x'],
    [
      `result=WrongSum\nfree-kib=0\n`,
      'VerifyFailed the program that arrived is not the expected one: gzip: x',
    ],
    [
      'result=NotUnpacked\nfree-kib=8\n',
      'NoSpace the disk is full: 1024 KiB are needed for the program, 8 KiB are free',
    ],
    [`result=NotWritten\nread-only=/var/lib\n${FREE}`, 'ReadOnly nothing can be written to /var/lib'],
    [`result=NotWritten\n${FREE}`, 'NotWritten the program could not be written: gzip: x'],
    ['', 'BadAnswer the copy of the program ended without a result'],
  ])('%j', (lines, want) => {
    const error = copyError(`${lines}${END}`, { errorLine: 'gzip: x', where: 'n1' });
    expect(error && `${error.code} ${error.message}`).toBe(want);
  });
});

function decide(output: string): string {
  const facts = readLookup(output);
  if (!facts) return 'incomplete';
  try {
    const source = planCopy(facts, FOLDER, 'n1');
    return source.type === 'Present' ? `Present ${source.path}` : source.type;
  } catch (error) {
    return String((error as { code?: string }).code);
  }
}
