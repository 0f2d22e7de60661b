/**
 * Decides what is sent to a command on a host, by what it has printed: the password of sudo when sudo asks for it, once, and the script
 * when the shell is ready to read it. A script is never sent as a password, nor a password to a shell. Pure.
 */

/** The line that the shell prints when it reads the script. */
export const READY = 'kubenode-ready';
/** The prompt that sudo prints when it reads the password. */
export const SUDO_PROMPT = 'kubenode-sudo-password:';

export interface DialogOptions {
  readonly input: { readonly script: string; readonly password?: string };
  /** The limit of both streams together. */
  readonly maxBytes: number;
}

export type DialogStep =
  | { readonly type: 'Wait' }
  | { readonly type: 'Send'; readonly text: string }
  | { readonly type: 'SendAll'; readonly text: string }
  | { readonly type: 'Stop' };

export interface Dialog {
  out(text: string): DialogStep;
  err(text: string): DialogStep;
  isReady(): boolean;
  isTooLong(): boolean;
  /** Returns the output of the script. */
  output(): string;
  errors(): string;
}

const WAIT: DialogStep = { type: 'Wait' };
const STOP: DialogStep = { type: 'Stop' };

export function startDialog({ input, maxBytes }: DialogOptions): Dialog {
  let out = '';
  let err = '';
  let outputStart: number | undefined;
  let prompts = 0;

  const isTooLong = (): boolean => out.length + err.length > maxBytes;
  return {
    out(text) {
      out += text;
      if (isTooLong()) return STOP;
      if (outputStart !== undefined) return WAIT;
      const ready = out.match(new RegExp(`^${READY}\r?\n`, 'm'));
      if (!ready) return WAIT;
      outputStart = (ready.index ?? 0) + ready[0].length;
      return { type: 'SendAll', text: input.script };
    },
    err(text) {
      err += text;
      if (isTooLong()) return STOP;
      const asked = err.split(SUDO_PROMPT).length - 1;
      if (outputStart !== undefined || asked === prompts) return WAIT;
      prompts = asked;
      // A second prompt means that the password was wrong: a third try could lock the account.
      return prompts === 1 && input.password !== undefined ? { type: 'Send', text: input.password } : STOP;
    },
    isReady: () => outputStart !== undefined,
    isTooLong,
    output: () => out.slice(outputStart ?? out.length),
    errors: () => err.replaceAll(SUDO_PROMPT, ''),
  };
}
