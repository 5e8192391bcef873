"""Looking at programs: their texts, what they cost, how their work is best shared out."""
