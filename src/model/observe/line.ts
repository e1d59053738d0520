/**
 * Does a log line say, in words of its own, that a stop signal was received? Such a line, after Killing, is an upper
 * bound for the signal; any other line may come from work in progress while the runtime was still busy. Only this
 * yes or no leaves the mapping: the text is dropped unless the user asked for logs.
 */
export function namesStopSignal(text: string): boolean {
  const line = text.slice(0, 512);
  return (signalName.test(line) && !aboutTerminal.test(line)) || signalWords.test(line);
}

/** SIGTERM, `signal: terminated`, or TERM as a word of its own; not SIGKILL, which no process receives. */
const signalName = /\bSIG(TERM|INT|QUIT|HUP|USR1|USR2|WINCH)\b|\bsignal[ :=]+(15|2|3|terminated|interrupt)\b|\bTERM\b/;
const signalWords =
  /\b(received|got|caught|trapped|handling)\b.{0,24}\b(termination|shutdown|stop|interrupt|exit)? ?signal\b/i;
/** `TERM environment variable not set`, `$TERM`, `TERM=xterm`: the terminal type, not the signal. */
const aboutTerminal = /\$\{?TERM\b|\bTERM(=| environment)/;
