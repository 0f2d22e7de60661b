import { describe, expect, it } from 'vitest';
import { READY, SUDO_PROMPT, startDialog } from '../../../../src/providers/ssh/channel/dialog.ts';

const SCRIPT = '4\necho';
const open = (password?: string) =>
  startDialog({ input: { script: SCRIPT, ...(password !== undefined && { password }) }, maxBytes: 100 });

describe('startDialog', () => {
  it('sends the script when the shell is ready, and returns what is printed after that', () => {
    const dialog = open();
    expect(dialog.out('a banner of the login shell\nkubenode-')).toEqual({ type: 'Wait' });
    expect(dialog.out('ready\nfirst')).toEqual({ type: 'SendAll', text: SCRIPT });
    expect(dialog.out(' line\n')).toEqual({ type: 'Wait' });
    expect([dialog.isReady(), dialog.output()]).toEqual([true, 'first line\n']);
  });

  it('does not take a word in a line for the shell', () => {
    expect(open().out(`not ${READY}\n`)).toEqual({ type: 'Wait' });
  });

  it('sends the password once, when sudo asks for it', () => {
    const dialog = open('pw\n');
    expect(dialog.err('We trust you have received the usual lecture.\n')).toEqual({ type: 'Wait' });
    expect(dialog.err(SUDO_PROMPT)).toEqual({ type: 'Send', text: 'pw\n' });
    expect(dialog.out(`${READY}\n`)).toEqual({ type: 'SendAll', text: SCRIPT });
  });

  it('never sends it to a shell that sudo started without asking', () => {
    const dialog = open('pw\n');
    expect(dialog.out(`${READY}\n`)).toEqual({ type: 'SendAll', text: SCRIPT });
    expect(dialog.err(SUDO_PROMPT)).toEqual({ type: 'Wait' });
  });

  it('stops when sudo asks again: a third try could lock the account', () => {
    const dialog = open('pw\n');
    dialog.err(SUDO_PROMPT);
    expect(dialog.err(`Sorry, try again.\n${SUDO_PROMPT}`)).toEqual({ type: 'Stop' });
    expect([dialog.isReady(), dialog.errors()]).toEqual([false, 'Sorry, try again.\n']);
  });

  it('stops when there is no password', () => {
    expect(open().err(SUDO_PROMPT)).toEqual({ type: 'Stop' });
  });

  it('stops at more output than the limit, of both streams together', () => {
    const dialog = open();
    expect(dialog.out('x'.repeat(60))).toEqual({ type: 'Wait' });
    expect(dialog.err('x'.repeat(41))).toEqual({ type: 'Stop' });
    expect(dialog.isTooLong()).toBe(true);
    expect(dialog.out('x')).toEqual({ type: 'Stop' });
  });
});
