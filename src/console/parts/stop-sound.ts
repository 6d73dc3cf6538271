let audio: AudioContext | undefined;

/** Two low tones, for people who look at the shelf and not at the screen. */
export function playStopSound(): void {
  try {
    audio ??= new AudioContext();
    for (const startsAt of [0, 0.25]) {
      const tone = audio.createOscillator();
      tone.type = "square";
      tone.frequency.value = 220;
      const volume = audio.createGain();
      volume.gain.value = 0.2;
      tone.connect(volume).connect(audio.destination);
      tone.start(audio.currentTime + startsAt);
      tone.stop(audio.currentTime + startsAt + 0.15);
    }
  } catch {
    // A browser without sound still shows the message.
  }
}
